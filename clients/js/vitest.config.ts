import { defineConfig } from "vitest/config";

// What a test waits for comes within milliseconds; a machine may be busy.
export default defineConfig({ test: { include: ["test/*.test.ts"], testTimeout: 60_000, hookTimeout: 60_000 } });
