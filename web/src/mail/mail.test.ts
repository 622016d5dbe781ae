import { expect, test } from "vitest";
import { addressesIn, readMail } from "./mail";

const raw = [
  "Date: Sat, 21 Nov 2026 23:01:08 +0000",
  "Subject:",
  " =?UTF-8?q?[Demo]_Scorecard_ready:_pg-1_=C2=B7_2?=",
  " =?UTF-8?q?2_Oct_=E2=80=93_21_Nov?=",
  'From: "Muster" <muster@localhost>',
  "To: =?UTF-8?b?w4RuYQ==?= <ana@example.org>",
  "Content-Type: multipart/alternative;",
  " boundary=muster-1",
  "",
  "--muster-1",
  "Content-Transfer-Encoding: quoted-printable",
  "Content-Type: text/plain; charset=UTF-8",
  "",
  "Gr=C3=BC=C3=9Fe: http://m/exports?reportId=3D01a2-90d1=",
  "-75db.",
  "",
  "--muster-1",
  "Content-Transfer-Encoding: base64",
  "Content-Type: text/html; charset=UTF-8",
  "",
  "PHA+R3LDvMOfZTwv",
  "cD4=",
  "--muster-1--",
  "",
].join("\r\n");

test("a mail is read as a mail client reads it", () => {
  expect(readMail(raw)).toEqual({
    subject: "[Demo] Scorecard ready: pg-1 · 22 Oct – 21 Nov",
    from: '"Muster" <muster@localhost>',
    to: "Äna <ana@example.org>",
    date: "2026-11-21T23:01:08.000Z",
    text: "Grüße: http://m/exports?reportId=01a2-90d1-75db.\n",
    html: "<p>Grüße</p>",
  });
});

test("a mail with an attachment is read as its letter", () => {
  const [, ...inner] = raw.split("Content-Type: multipart/alternative;");
  const attached = [
    "Subject: Ready",
    "Content-Type: multipart/mixed; boundary=mixed-muster-1",
    "",
    "--mixed-muster-1",
    `Content-Type: multipart/alternative;${inner.join("")}`,
    "--mixed-muster-1",
    'Content-Disposition: attachment; filename="proof.json"',
    "Content-Transfer-Encoding: base64",
    'Content-Type: application/json; name="proof.json"',
    "",
    "e30K",
    "--mixed-muster-1--",
    "",
  ].join("\r\n");
  expect(readMail(attached)).toMatchObject({
    subject: "Ready",
    text: "Grüße: http://m/exports?reportId=01a2-90d1-75db.\n",
    html: "<p>Grüße</p>",
  });
});

test("a mail without parts is its text", () => {
  expect(readMail("Subject: Hi\n\nOne\n\nTwo\n")).toMatchObject({
    subject: "Hi",
    text: "One\n\nTwo\n",
    html: null,
    date: null,
  });
});

test("addresses end before the sentence does", () => {
  expect(addressesIn("See http://m/a?b=1. Or http://m/y, both", "http://m")).toEqual([
    "See ",
    "http://m/a?b=1",
    ". Or ",
    "http://m/y",
    ", both",
  ]);
});

test("an address of another site, such as in the title of an alert, is no link", () => {
  for (const text of [
    "http://evil.example/login",
    "http://m.evil.example/",
    "http://m@evil.example/",
    "https://m/",
    "http://[x]/",
  ])
    expect(addressesIn(`Disk full: ${text} now`, "http://m")).toEqual([`Disk full: ${text} now`]);
});
