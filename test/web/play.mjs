// A browser for the tests of one file, and for each test a homework of its own.
import { after, before } from "node:test";
import { Homework, launch } from "./browser.mjs";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser?.close());

/** Returns a test with a homework of its own, and what it has opened is closed after it. */
export function play(run) {
  return async () => {
    const homework = new Homework(browser);
    try {
      await run(homework);
    } finally {
      await homework.close();
    }
  };
}
