import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { buildKey, keyFault } from "../src/index.js";
import { headerValue } from "../src/key.js";

interface Vector {
  reason: string;
  parts: string[];
  key: string;
  times?: number;
}

const vectors: { built: Vector[]; allowed: Vector[]; refused: Vector[] } = JSON.parse(readFileSync(new URL("../../keys.json", import.meta.url), "utf8"));

describe("keys are those of every client", () => {
  it.each(vectors.built)("built: $reason", ({ parts, key }) => expect(buildKey(...parts)).toBe(key));
  it.each(vectors.allowed)("allowed: $reason", ({ key, times }) => expect(keyFault(key.repeat(times ?? 1))).toBeUndefined());
  it.each(vectors.refused)("refused: $reason", ({ key, times }) => expect(keyFault(key.repeat(times ?? 1))).toMatch(/^the key /));
  it("numbers are parts, too", () => expect(buildKey("task", 42, 7)).toBe("task:42:7"));
  it("half of a pair is no letter", () => expect(keyFault("\ud83d")).toMatch(/surrogate/));
});

describe("the header is a structured field", () => {
  it.each([
    ["a plain key", "task:42", '"task:42"'],
    ["quotes and backslashes", 'a"b\\c', '"a\\"b\\\\c"'],
    ["other letters", "提交:1%", '%"%e6%8f%90%e4%ba%a4:1%25"'],
    ["other letters and a quote", 'é"', '%"%c3%a9%22"'],
  ])("%s", (_, key, header) => expect(headerValue(key)).toBe(header));
});
