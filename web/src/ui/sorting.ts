// How lists are ordered by their columns: "name" is ascending, "-name" descending.

export type Direction = "ascending" | "descending" | "none";

/** directionOf is how a list is ordered by a column; none where it is ordered by another. */
export function directionOf(sort: string, column: string): Direction {
  if (sort === column) return "ascending";
  return sort === `-${column}` ? "descending" : "none";
}

/** columnOf is the column by which an order is. */
export const columnOf = (sort: string) => sort.replace(/^-/, "");

/** turned is the order after a click on a column: that which the column begins with, then the other way round. */
export function turned<Sort extends string>(sort: Sort, first: Sort): Sort {
  if (sort !== first) return first;
  return (first.startsWith("-") ? columnOf(first) : `-${first}`) as Sort;
}
