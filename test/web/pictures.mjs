// Draws the pictures of the documents into the folder PICTURES.
import { join } from "node:path";
import { eventually, everybody, Homework, launch } from "./browser.mjs";
import { hour } from "./hour.mjs";

const browser = await launch();
const homework = new Homework(browser);
try {
  const tab = await homework.open(await homework.device({ viewport: { width: 1440, height: 820 }, reducedMotion: "reduce" }));
  const [student, teacher, parent] = everybody(tab);
  await student.turn("lost-answer");
  await student.press();
  await student.is("unknown");
  await homework.allDone(teacher, parent);
  await teacher.press();
  await eventually("the ledger on the page", () => tab.locator(".verdict").textContent(), "Booked once");
  await eventually("whether the page says how often answers were lost", async () => Number(await student.switch("lost-answer").getAttribute("data-injected")) > 0, true);
  await tab.mouse.move(0, 0);
  await tab.evaluate(() => document.activeElement.blur());
  await tab.screenshot({ path: join(process.env.PICTURES, "example.png") });

  const page = await (await browser.newContext({ viewport: { width: 1200, height: 1010 } })).newPage();
  await page.route("**/page/state", (route) => route.fulfill({ json: hour() }));
  await page.goto(process.env.PAGE);
  await page.locator("#outcomes rect").first().waitFor();
  await page.screenshot({ path: join(process.env.PICTURES, "page.png") });
} finally {
  await browser.close();
}
