// Why a server is not up, as its code says it.
const words: [RegExp, string][] = [
  [/^timeout$/, "no answer"],
  [/^dns$/, "name not found"],
  [/^tls$/, "TLS failed"],
  [/^(authentication|28P01|28000|18456|ORA-01017)$/, "wrong password"],
  [/^(53300|ORA-(00020|12516|12519|12520)|17809|10928|10929)$/, "full"],
  [/^(57P03|ORA-0103[34]|17142|17187|18401)$/, "starting or stopping"],
  [/^(57P01|57P02|6005|ORA-0(1089|1090))$/, "stopped"],
  [/^(database|3D000|4060|ORA-125(14|05))$/, "database not available"],
];

const bare = (code: string) => code.replace(/^(SQLSTATE|error) /, "");

/** wordOf is what the code of a server that is down means in a word or two; null: no more than "down" does. */
export const wordOf = (code: string) => words.find(([codes]) => codes.test(bare(code)))?.[1] ?? null;
