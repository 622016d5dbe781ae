import { expect, test } from "vitest";
import { newSecret, noSecret } from "./secret";

test("a generated secret is valid, and different each time", () => {
  expect(noSecret(newSecret())).toBeNull();
  expect(newSecret()).not.toBe(newSecret());
});

test("an invalid secret is refused", () => {
  expect(noSecret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")).toBeNull();
  for (const wrong of ["", "secret", "whsec_", "whsec_!!!!", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_abc"]) {
    expect(noSecret(wrong), wrong).toContain("whsec_");
  }
  expect(noSecret(`whsec_${btoa("short")}`)).toContain("5 bytes");
  expect(noSecret(`whsec_${btoa("x".repeat(65))}`)).toContain("65 bytes");
});
