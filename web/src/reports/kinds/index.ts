import type { Schemas } from "../../api/client";
import { categories } from "../../url/categories";
import { alerts } from "./alerts";
import { digest } from "./digest";
import { inventory } from "./inventory";
import type { ReportKind } from "./kind";
import { scorecard } from "./scorecard";
import { security } from "./security";
import { sla } from "./sla";

export type Kind = Schemas["ReportKind"];

/** The kinds of reports. The compiler names one that the API has and this list has not. */
export const reportKinds: Record<Kind, ReportKind> = {
  Security: security,
  InstanceScorecard: scorecard,
  DataInventory: inventory,
  AlertsSummary: alerts,
  DailyDigest: digest,
  PerformanceSla: sla,
};

/** kinds are their names. */
export const kinds = Object.keys(reportKinds) as Kind[];

/** byCategory are the kinds in the order of the catalog. */
export const byCategory = categories.flatMap((c) => kinds.filter((kind) => reportKinds[kind].card.category === c));

/** kindName is the kind as people say it; a newer server may have one that these pages do not know. */
export const kindName = (kind: string) => (reportKinds as Record<string, ReportKind>)[kind]?.short ?? kind;
