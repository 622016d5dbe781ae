import { Anchor, Stack, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { Snippet } from "../ui/Snippet";
import type { Report } from "./status";

/** HowToVerify is how anybody who holds the PDF finds out that it is the one that was built. */
export function HowToVerify({ report }: { report: Report }) {
  const name = report.file?.name ?? "FILE.pdf";
  return (
    <Stack gap="md">
      <Text size="sm">
        <Anchor component={Link} to="/reports/verify" inherit>
          Drop the PDF on the verification page
        </Anchor>
        , or use a terminal. A file that differs by one byte is not this report.
      </Text>
      {report.file?.signed && (
        <Text size="sm">
          The PDF carries its proof and a signature, so that anyone with the{" "}
          <Anchor href="/.well-known/muster-keys.json" inherit download="muster-keys.json">
            public keys of this installation
          </Anchor>{" "}
          can check it without Muster. Keep the keys apart from the PDF. The{" "}
          <Anchor href={`/api/v1/reports/${report.id}/proof`} inherit download="proof.json">
            proof by itself
          </Anchor>{" "}
          also has what was added later.
        </Text>
      )}
      {report.file && (
        <Snippet
          label={report.file.signed ? "SHA-256 of the signed PDF" : "SHA-256 of the PDF"}
          text={report.file.sha256}
          wrapped
        />
      )}
      {report.file?.signed && (
        <Snippet label="SHA-256 of the PDF as it was built" text={report.file.baseSha256} wrapped />
      )}
      {report.file?.signed && (
        <Snippet
          label="Check it without Muster"
          text={`muster verify --offline --keys muster-keys.json ${name}`}
          wrapped
        />
      )}
      <Snippet label="Compute the digest of a file" text={`sha256sum ${name}`} wrapped />
      <Snippet label="Compare a file with the log" text={`muster verify ${name}`} wrapped />
      <Snippet
        label="Rebuild it from its inputs and compare"
        text={`muster reports rebuild ${report.id} --verify`}
        wrapped
      />
    </Stack>
  );
}
