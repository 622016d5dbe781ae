// What stands in an address. Names are those of the API (contract §17); a value that
// cannot be read is dropped, said, and never silently widens what is shown.
import { unreadable } from "./tagWords";

/** Field reads one parameter's texts; undefined is not there, and texts it cannot read are in `dropped`. */
export type Field<T> = { read: (texts: string[]) => { value: T | undefined; dropped: string[] } };

type Values<F extends Record<string, Field<unknown>>> = {
  [K in keyof F]?: F[K] extends Field<infer T> ? T : never;
};

export type Dropped = { name: string; value: string; reason: "unknown" | "invalid" };

/** one is a parameter with one value: the first that can be read. */
function one<T>(read: (text: string) => T | undefined): Field<T> {
  return {
    read: (texts) => {
      const good = texts.filter((text) => read(text) !== undefined);
      const first = good[0];
      return { value: first === undefined ? undefined : read(first), dropped: texts.filter((text) => text !== first) };
    },
  };
}

/**
 * many is a repeated parameter. Where none of its values can be read it is empty, not absent: an empty filter matches
 * nothing, an absent one everything. An address says so with an empty value (`instanceId=`).
 */
function many(read: (text: string) => string | undefined): Field<string[]> {
  return {
    read: (texts) => {
      const good = texts.map(read).filter((value) => value !== undefined);
      const dropped = texts.filter((text) => text !== "" && read(text) === undefined);
      return { value: texts.length === 0 ? undefined : [...new Set(good)], dropped };
    },
  };
}

/**
 * leaving is a repeated parameter that names what is left out. Where none of its values can be read it is absent: an
 * empty one leaves out nothing, and would show more than was asked for.
 */
function leaving(read: (text: string) => string | undefined): Field<string[]> {
  const all = many(read);
  return {
    read: (texts) => {
      const { value, dropped } = all.read(texts);
      return { value: value?.length === 0 && !texts.includes("") ? undefined : value, dropped };
    },
  };
}

const uuidForm = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const readUuid = (text: string) => (uuidForm.test(text) ? text.toLowerCase() : undefined);
const readInstant = (text: string) =>
  /^\d{4}-\d\d-\d\dT/.test(text) && !Number.isNaN(Date.parse(text)) ? new Date(text).toISOString() : undefined;

export const uuid = one(readUuid);
export const uuids = many(readUuid);
export const instant = one(readInstant);
export const text = one((value) => (value.length > 0 && value.length <= 200 ? value : undefined));
export const texts = many((value) => (value.length > 0 && value.length <= 200 ? value : undefined));
export const tags = many((value) => (unreadable([value]) === null ? value : undefined));
export const ordinal = one((value) => (/^[1-9]\d{0,8}$/.test(value) ? Number(value) : undefined));
export const oneOf = <T extends string>(...allowed: T[]): Field<T> => one((value) => allowed.find((a) => a === value));
export const someOf = <T extends string>(...allowed: T[]): Field<T[]> =>
  many((value) => allowed.find((a) => a === value)) as Field<T[]>;

export const noneOf = <T extends string>(...allowed: T[]): Field<T[]> =>
  leaving((value) => allowed.find((a) => a === value)) as Field<T[]>;

/** Schema is what a page's address may say. It is a route's `validateSearch`, and tells what it dropped. */
export type Schema<S> = ((raw: Record<string, unknown>) => S) & {
  dropped: (raw: Record<string, unknown>) => Dropped[];
};

const textsOf = (value: unknown): string[] =>
  value === undefined || value === null
    ? []
    : Array.isArray(value)
      ? value.length === 0
        ? [""]
        : value.map(String)
      : [String(value)];

/** A Rule names the parameters that, each readable, make no sense together: they are dropped like what cannot be read. */
export type Rule<S> = (values: S) => (keyof S & string)[];

/** search makes a Schema of fields, and of a rule for what they say together. */
export function search<F extends Record<string, Field<unknown>>>(
  fields: F,
  rule: Rule<Values<F>> = () => [],
): Schema<Values<F>> {
  const fieldsOf = (raw: Record<string, unknown>) => {
    const values: Record<string, unknown> = {};
    for (const [name, field] of Object.entries(fields)) {
      // Undefined, not absent: the router would let the address's own text through in its place.
      values[name] = field.read(textsOf(raw[name])).value;
    }
    return values as Values<F>;
  };
  const read = (raw: Record<string, unknown>) => {
    const values = fieldsOf(raw);
    for (const name of rule(values)) values[name] = undefined;
    return values;
  };
  const dropped = (raw: Record<string, unknown>) => {
    const senseless: string[] = rule(fieldsOf(raw));
    return Object.entries(raw).flatMap(([name, value]): Dropped[] => {
      const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
      if (!field) return [{ name, value: textsOf(value).join(", "), reason: "unknown" }];
      if (senseless.includes(name)) return [{ name, value: textsOf(value).join(", "), reason: "invalid" }];
      return field.read(textsOf(value)).dropped.map((text) => ({ name, value: text, reason: "invalid" as const }));
    });
  };
  return Object.assign(read, { dropped });
}

/** parseSearch reads an address: each name with all its values. */
export function parseSearch(query: string): Record<string, string[]> {
  const values = new Map<string, string[]>();
  for (const [name, value] of new URLSearchParams(query)) values.set(name, [...(values.get(name) ?? []), value]);
  // Not by assignment: an address may name `__proto__`.
  return Object.fromEntries(values);
}

/** stringifySearch writes an address, lists as repeated names; an empty list is one empty value. */
export function stringifySearch(values: Record<string, unknown>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    for (const item of textsOf(value)) query.append(name, item);
  }
  const written = query.toString().replaceAll("%3A", ":");
  return written ? `?${written}` : "";
}
