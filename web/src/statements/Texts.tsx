import { Anchor, Text, type TextProps } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useSession } from "../api/session";
import { firstLine, shortId } from "./query";
import classes from "./statements.module.css";

/** useTexts says whether the organization keeps texts of statements, and whether this reader is shown them. */
export function useTexts() {
  const { organization, role } = useSession();
  const kept = organization.statementTexts === "normalized";
  return { kept, shown: kept && role !== "viewer" };
}

/** StatementName is a statement in a list: its text's first line, or where there is none its short id. */
export function StatementName({ id, text }: { id: string; text: string | null }) {
  if (!text) return <>{shortId(id)}</>;
  return (
    <code className={classes.text} title={text.slice(0, 1_000)}>
      {firstLine(text)}
    </code>
  );
}

/** NoTexts says why there are no texts, and who can have it otherwise; nothing where there may be some. */
export function NoTexts({ mt, mb = "md" }: Pick<TextProps, "mt" | "mb">) {
  const { kept, shown } = useTexts();
  const { can } = useSession();
  if (shown) return null;
  return (
    <Text size="sm" c="dimmed" mt={mt} mb={mb}>
      {kept ? (
        "Texts of statements are not shown to viewers."
      ) : can("admin") ? (
        <>
          Texts of statements are not kept.{" "}
          <Anchor component={Link} to="/settings/organization" size="sm">
            Keep them, without values and comments
          </Anchor>
        </>
      ) : (
        "Texts of statements are not kept. An administrator can have them kept, without values and comments."
      )}
    </Text>
  );
}
