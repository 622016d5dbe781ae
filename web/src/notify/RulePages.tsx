import { Skeleton } from "@mantine/core";
import { useNavigate, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { api, client } from "../api/client";
import { ownZone } from "../schedules/words";
import { NotThere } from "../ui/NotThere";
import { PageTitle } from "../ui/PageTitle";
import { say } from "../ui/say";
import { notificationsChanged } from "./changed";
import { RuleEditor } from "./RuleEditor";
import { bodyOf, formOf, newRule } from "./ruleForm";
import type { Rule } from "./words";

/** NewRulePage adds a rule. */
export function NewRulePage() {
  const navigate = useNavigate();
  const [begun] = useState(() => newRule(ownZone()));
  return (
    <>
      <PageTitle title="New notification rule" lead="Preview: what this rule would have sent in the last 30 days." />
      <RuleEditor
        begun={begun}
        verb="Create rule"
        onSend={async (form) => {
          await client.POST("/api/v1/notification-rules", { body: { ...bodyOf(form), enabled: true } });
          say("Rule created.");
          await notificationsChanged();
          await navigate({ to: "/notifications/rules" });
        }}
      />
    </>
  );
}

/** RulePage changes a rule. */
export function RulePage() {
  const { ruleId } = useParams({ from: "/notifications/rules/$ruleId" });
  const rule = api.useQuery("get", "/api/v1/notification-rules/{ruleId}", { params: { path: { ruleId } } });
  if (rule.data) return <Edit key={rule.data.id} rule={rule.data} />;
  return (
    <>
      <PageTitle title="Notification rule" />
      {rule.isPending && <Skeleton height={480} />}
      {rule.error && (
        <NotThere
          what="rule"
          error={rule.error}
          onRetry={() => rule.refetch()}
          all={{ to: "/notifications/rules", name: "notification rules" }}
        >
          It may have been removed. Its notifications stay in the list of deliveries.
        </NotThere>
      )}
    </>
  );
}

function Edit({ rule }: { rule: Rule }) {
  const navigate = useNavigate();
  const [begun] = useState(() => formOf(rule, ownZone()));
  return (
    <>
      <PageTitle
        title={rule.name}
        lead={`${rule.enabled ? "" : "This rule is off. "}Changes apply to events from now on.`}
      />
      <RuleEditor
        begun={begun}
        verb="Save"
        onSend={async (form) => {
          await client.PATCH("/api/v1/notification-rules/{ruleId}", {
            params: { path: { ruleId: rule.id } },
            body: bodyOf(form),
          });
          say("Rule saved.");
          await notificationsChanged();
          await navigate({ to: "/notifications/rules" });
        }}
      />
    </>
  );
}
