import { expect, test } from "vitest";
import { read, unreadable, written } from "./tagWords";

test("tags are words, and words are tags", () => {
  const tags = { team: "payments", env: "prod", note: "a:b" };
  expect(written(tags)).toEqual(["env:prod", "note:a:b", "team:payments"]);
  expect(read(written(tags))).toEqual(tags);
  expect(read(["env: prod"])).toEqual({ env: "prod" });
});

test("an invalid tag is named", () => {
  for (const word of ["prod", "env:", ":prod", "Env:prod", "env: ", "e nv:prod"]) {
    expect(unreadable([word])).toContain("is no tag");
  }
  expect(unreadable(["env:prod", "env:test"])).toBe("env is there twice. A key has one value.");
  expect(unreadable([`env:${"é".repeat(101)}`])).toContain("more than 100 characters");
  expect(unreadable([`env:${"é".repeat(100)}`, "a-b.c_1:x y"])).toBeNull();
});
