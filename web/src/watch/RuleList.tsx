import { Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { plural } from "../ui/format";
import { byGroup, isOn, type Rule } from "./lines";
import classes from "./watch.module.css";

const stateOf = (rule: Rule) => {
  if (!rule.measured) return "not measured";
  if (!isOn(rule.settings)) return "off";
  return rule.settings.length > 1 ? plural(rule.settings.length, "setting") : "";
};

/** RuleList is the catalogue by its groups; a rule leads to its page. */
export function RuleList({ rules }: { rules: Rule[] }) {
  return (
    <nav aria-label="Watch rules">
      {byGroup(rules).map(([group, members]) => (
        <section key={group} aria-label={group}>
          <Text size="xs" c="dimmed" fw={600} px={8} pt="xs" pb={4}>
            {group}
          </Text>
          {members.map((rule) => (
            <Link
              key={rule.id}
              to="/watch-rules/$watchRule"
              params={{ watchRule: rule.id } as never}
              className={classes.rule}
            >
              <span className={classes.mark} data-on={isOn(rule.settings) || undefined} aria-hidden />
              <span className={classes.name}>{rule.name}</span>
              <Text size="xs" c="dimmed" component="span" style={{ whiteSpace: "nowrap" }}>
                {stateOf(rule)}
              </Text>
            </Link>
          ))}
        </section>
      ))}
    </nav>
  );
}
