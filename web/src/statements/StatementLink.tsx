import { Anchor } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useScope } from "../window/scope";
import type { Statement, StatementsSearch } from "./query";
import classes from "./statements.module.css";
import { StatementName } from "./Texts";

declare module "@tanstack/react-router" {
  interface HistoryState {
    /** The list from which a statement was opened, to go back to it as it was. */
    statements?: StatementsSearch;
  }
}

/** StatementLink is a statement's text or short id, which leads to it in the page's window; the way back goes along unseen. */
export function StatementLink({
  statement: s,
  list,
}: {
  statement: Pick<Statement, "id" | "text">;
  list: StatementsSearch;
}) {
  const { search } = useScope();
  return (
    <Anchor
      component={Link}
      to="/statements/$statementId"
      params={{ statementId: s.id } as never}
      search={search as never}
      state={{ statements: list } as never}
      size="sm"
      fw={550}
      className={classes.name}
    >
      <StatementName id={s.id} text={s.text} />
    </Anchor>
  );
}
