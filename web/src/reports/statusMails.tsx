import { Anchor, Modal, Skeleton } from "@mantine/core";
import { lazy, Suspense, useEffect, useRef, useState } from "react";
import { api, type Schemas } from "../api/client";
import { useSession } from "../api/session";
import { ProblemNote } from "../ui/ProblemNote";
import { part } from "../ui/part";
import type { Report } from "./status";

const Letter = lazy(() => part(() => import("../mail/Letter")).then((m) => ({ default: m.Letter })));

/** useMails is to whom a mail about a report was sent that is still kept; auditors and administrators read them. */
export function useMails(report: Report): Set<string> {
  const { can, role } = useSession();
  const sent = (report.recipients ?? []).filter((r) => r.delivery === "sent").length;
  const enabled =
    can("audit:read") && role !== "team" && can("reports:download") && report.status === "Ready" && sent > 0;
  const { data, refetch } = api.useQuery(
    "get",
    "/api/v1/reports/{reportId}/mails",
    { params: { path: { reportId: report.id } } },
    { enabled },
  );
  const known = useRef(sent);
  useEffect(() => {
    if (enabled && known.current !== sent) void refetch();
    known.current = sent;
  }, [enabled, sent, refetch]);
  return new Set(data?.items.map((mail) => mail.member.id));
}

/** ShowMail opens the mail that a recipient was sent, as it was sent. */
export function ShowMail({ report, recipient }: { report: Report; recipient: Schemas["Recipient"] }) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <Anchor component="button" type="button" size="xs" onClick={() => setOpen(true)}>
        Show the e-mail<span className="visually-hidden"> to {recipient.name}</span>
      </Anchor>
      <Modal
        opened={open}
        onClose={() => setOpen(false)}
        size="xl"
        title={`E-mail to ${recipient.name}`}
        closeButtonProps={{ "aria-label": "Close" }}
      >
        {open && <Mail reportId={report.id} memberId={recipient.id} />}
      </Modal>
    </>
  );
}

function Mail({ reportId, memberId }: { reportId: string; memberId: string }) {
  const { data, error, refetch } = api.useQuery("get", "/api/v1/reports/{reportId}/mails/{memberId}", {
    params: { path: { reportId, memberId } },
  });
  if (error) return <ProblemNote error={error} title="The e-mail could not be loaded" onRetry={refetch} />;
  if (!data) return <Skeleton height={480} />;
  return (
    <Suspense fallback={<Skeleton height={480} />}>
      <Letter raw={data.raw} />
    </Suspense>
  );
}
