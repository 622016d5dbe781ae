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
      {report.file && <Snippet label="SHA-256 of the PDF" text={report.file.sha256} wrapped />}
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
