import { useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback, useEffect, useRef, useState } from "react";
import { stringifySearch } from "../url/search";
import type { RequestSearch } from "./requestAgain";
import { type Fill, fillOf, leftOut, searchOf } from "./requestForm";

const names = ["kind", "instanceId", "tag", "databaseId", "range", "from", "to", "recipientId", "teamId"] as const;

/** addressOf writes a search in one order, so that two that say the same are equal. */
const addressOf = (search: RequestSearch) => stringifySearch(Object.fromEntries(names.map((n) => [n, search[n]])));

/**
 * useFill is the form and its address, kept alike: what is typed rewrites the address in place, another address
 * (a link, Back) fills the form. left names what the address said that its kind of report does not have.
 */
export function useFill(): { fill: Fill; change: (next: Fill) => void; left: string[] } {
  const search = useSearch({ from: "/reports/view" });
  const navigate = useNavigate({ from: "/reports/view" });
  const [fill, setFill] = useState(() => fillOf(search));
  const [left, setLeft] = useState<string[]>([]);
  // The router answers a moment later, and not with each address where they come fast: what is its answer
  // to us must not undo what was typed since.
  const underWay = useRef<string[]>([]);
  const shown = useRef(addressOf(search));

  const write = useCallback(
    (next: RequestSearch) => {
      underWay.current.push(addressOf(next));
      navigate({ search: next, replace: true, resetScroll: false });
    },
    [navigate],
  );

  useEffect(() => {
    const extra = leftOut(search);
    if (extra.length === 0) return;
    setLeft(extra);
    write(searchOf(fillOf(search)));
  }, [search, write]);

  useEffect(() => {
    const address = addressOf(search);
    const answered = underWay.current.indexOf(address);
    if (answered >= 0) underWay.current.splice(0, answered + 1);
    else if (address !== shown.current) {
      underWay.current = [];
      setFill(fillOf(search));
    }
    shown.current = address;
  }, [search]);

  const change = useCallback(
    (next: Fill) => {
      setFill(next);
      setLeft([]);
      if (addressOf(searchOf(next)) !== (underWay.current.at(-1) ?? shown.current)) write(searchOf(next));
    },
    [write],
  );
  return { fill, change, left };
}
