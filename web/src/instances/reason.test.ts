import { expect, test } from "vitest";
import { wordOf } from "./reason";

test.each([
  ["53300", "full"],
  ["ORA-12516", "full"],
  ["SQLSTATE 57P03", "starting or stopping"],
  ["28P01", "wrong password"],
  ["error 18456", "wrong password"],
  ["timeout", "no answer"],
  ["57P01", "stopped"],
  ["refused", null],
  ["XX000", null],
])("the code %s of a server that is down means %s", (code, word) => {
  expect(wordOf(code)).toBe(word);
});
