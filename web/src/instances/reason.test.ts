import { expect, test } from "vitest";
import { saidOf, wordOf } from "./reason";

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

test("the server's own words are told apart from what Muster saw", () => {
  const said = (sentence: string) => saidOf({ code: "", sentence });
  expect(
    said(
      "Connection refused at db04:5432: wrong host or port, or the server is down. Its last words: 57P01 terminating connection due to administrator command.",
    ),
  ).toEqual({
    sentence: "Connection refused at db04:5432: wrong host or port, or the server is down.",
    words: "57P01 terminating connection due to administrator command",
    last: true,
  });
  expect(said("db03:5432 refuses connections: sorry, too many clients already (53300).")).toEqual({
    sentence: "db03:5432 refuses connections.",
    words: "53300 sorry, too many clients already",
    last: false,
  });
  expect(said("db04:5432 did not answer within 5s.")).toEqual({
    sentence: "db04:5432 did not answer within 5s.",
    words: null,
    last: false,
  });
});
