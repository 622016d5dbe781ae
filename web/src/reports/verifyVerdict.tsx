import { Alert, Anchor, Code, List, Stack, Text } from "@mantine/core";
import { IconAlertTriangle, IconShieldCheck, IconShieldX } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { Schemas } from "../api/client";
import { absoluteTime } from "../ui/format";
import { kindName } from "./kinds";
import { Facts } from "./statusFacts";
import { largestEvidence } from "./verifyFile";

const Digest = ({ children }: { children: string }) => (
  <Text span size="xs" ff="monospace">
    {children}
  </Text>
);

/** witnessText is a log's head as everything prints it and `muster events verify --witness` takes it. */
export const witnessText = (w: Schemas["Witness"]) => `${w.log}:${w.position}:${w.hash}`;

/**
 * Verdict is what the log knows of a file. digest is the file's SHA-256 as computed here; null where it could not be.
 * size is in bytes.
 */
export function Verdict({
  answer,
  digest,
  size,
}: {
  answer: Schemas["Verification"];
  digest: string | null;
  size: number;
}) {
  if (answer.known && answer.report) return <Known answer={answer} report={answer.report} digest={digest} />;
  if (answer.known && answer.evidence) return <Evidence answer={answer} evidence={answer.evidence} digest={digest} />;
  return size > largestEvidence ? <TooLarge digest={digest} /> : <Unknown digest={digest} />;
}

const inconsistent = (of: string) =>
  `The file matches its record, but ${of} are inconsistent. Tell the person who runs Muster; \`muster events verify\` on the server shows where.`;

function Known({
  answer,
  report,
  digest,
}: {
  answer: Schemas["Verification"];
  report: Schemas["Report"];
  digest: string | null;
}) {
  const intact = answer.chain === "ok";
  return (
    <Ours intact={intact}>
      <Text size="sm">
        {intact
          ? `This file is byte for byte ${answer.file && answer.file !== "report.pdf" ? `${answer.file} of a report` : "the report"} that Muster built, and its record in the log is intact.`
          : inconsistent("the events of this report")}
      </Text>
      <Facts
        facts={[
          [
            "Report",
            <Anchor
              key="report"
              inherit
              renderRoot={(props) => <Link {...props} to="/reports/$reportId" params={{ reportId: report.id }} />}
            >
              {kindName(report.kind)}: {report.scopeLabel}
            </Anchor>,
          ],
          ["Requested by", report.requester.name],
          ["Requested", absoluteTime(report.createdAt)],
          ["Built", report.finishedAt && absoluteTime(report.finishedAt)],
          ["Chain", intact ? "Intact: the report's events and the log head printed in the PDF" : "Broken"],
          ["Witness in the PDF", answer.witness && <Digest key="witness">{witnessText(answer.witness)}</Digest>],
          ["SHA-256 of the file", digest && <Digest key="digest">{digest}</Digest>],
          ["SHA-256 of its inputs", answer.inputsSha256 && <Digest key="inputs">{answer.inputsSha256}</Digest>],
        ]}
      />
    </Ours>
  );
}

function Evidence({
  answer,
  evidence,
  digest,
}: {
  answer: Schemas["Verification"];
  evidence: Schemas["RecordedEvidence"];
  digest: string | null;
}) {
  const intact = answer.chain === "ok";
  return (
    <Ours intact={intact}>
      <Text size="sm">
        {intact
          ? "This file is evidence of a control that Muster made and signed, and its record in the log is intact."
          : inconsistent("the events of this evidence")}
      </Text>
      <Facts
        facts={[
          [
            "Evidence of",
            <Anchor
              key="check"
              inherit
              renderRoot={(props) => <Link {...props} to="/checks/$checkId" params={{ checkId: evidence.checkId }} />}
            >
              {evidence.checkId}: {evidence.checkTitle}
            </Anchor>,
          ],
          ["From", absoluteTime(evidence.from)],
          ["To", absoluteTime(evidence.to)],
          ["Made", absoluteTime(evidence.madeAt)],
          ["Id", evidence.id],
          ["Event that recorded it", answer.witness && <Digest key="witness">{witnessText(answer.witness)}</Digest>],
          ["SHA-256 of the file", digest && <Digest key="digest">{digest}</Digest>],
        ]}
      />
    </Ours>
  );
}

function Ours({ intact, children }: { intact: boolean; children: ReactNode }) {
  return (
    <Frame
      color={intact ? "muster" : "yellow"}
      title={intact ? "Built by Muster, unchanged" : "Built by Muster, but the log is inconsistent"}
      icon={intact ? <IconShieldCheck aria-hidden /> : <IconAlertTriangle aria-hidden />}
      verdict={intact ? "known" : "broken"}
    >
      {children}
    </Frame>
  );
}

function Unknown({ digest }: { digest: string | null }) {
  return (
    <Frame color="red" title="Not built by Muster, or changed" icon={<IconShieldX aria-hidden />} verdict="unknown">
      <Text size="sm">No report and no evidence of your organization has this content. Possible reasons:</Text>
      <List size="sm">
        <List.Item>Muster did not build it.</List.Item>
        <List.Item>It was changed after it was built, for example by printing, signing or saving it again.</List.Item>
        <List.Item>It belongs to another organization.</List.Item>
      </List>
      <Text size="sm">Do not rely on its content. Ask for the original, or download the report again.</Text>
      <DigestOfFile digest={digest} />
    </Frame>
  );
}

/** TooLarge is for a file that is no report, and in which the API does not look for evidence. */
function TooLarge({ digest }: { digest: string | null }) {
  return (
    <Frame
      color="yellow"
      title="Not a report; evidence this large is not checked here"
      icon={<IconAlertTriangle aria-hidden />}
      verdict="too-large"
    >
      <Text size="sm">
        No report of your organization has this content. Muster checks evidence of up to 16 MB here. Check larger
        evidence on the server with <Code>muster verify FILE</Code>, or anywhere with{" "}
        <Code>muster verify --offline --trust trust.json FILE</Code>.
      </Text>
      <DigestOfFile digest={digest} />
    </Frame>
  );
}

/** Frame is how a verdict looks. */
function Frame({
  color,
  title,
  icon,
  verdict,
  children,
}: {
  color: string;
  title: string;
  icon: ReactNode;
  verdict: string;
  children: ReactNode;
}) {
  return (
    <Alert
      color={color}
      title={title}
      icon={icon}
      data-verdict={verdict}
      styles={{ title: { color: "var(--mantine-color-text)" } }}
    >
      <Stack gap="sm">{children}</Stack>
    </Alert>
  );
}

function DigestOfFile({ digest }: { digest: string | null }) {
  return (
    digest && (
      <Text size="sm">
        SHA-256 of the file: <Code style={{ overflowWrap: "anywhere" }}>{digest}</Code>
      </Text>
    )
  );
}
