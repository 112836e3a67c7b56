// Draws the pictures of the documents into the folder PICTURES.
import { join } from "node:path";
import { everybody, Homework, launch } from "./browser.mjs";

const browser = await launch();
const homework = new Homework(browser);
try {
  const tab = await homework.open(await homework.device({ viewport: { width: 1440, height: 860 }, reducedMotion: "reduce" }));
  const [student, teacher, parent] = everybody(tab);
  await student.turn("lost-answer");
  await student.press();
  await student.is("unknown");
  await homework.allDone(teacher, parent);
  await teacher.press();
  await tab.mouse.move(0, 0);
  await tab.evaluate(() => document.activeElement.blur());
  await tab.screenshot({ path: join(process.env.PICTURES, "example.png") });
} finally {
  await browser.close();
}
