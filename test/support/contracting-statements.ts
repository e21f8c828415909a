/** With the changed table if it decides: a table of the same migration has no earlier user. */
const FORMS: readonly RegExp[] = [
  /^drop\s+(?:table|column|type|view|function|trigger|index|schema|sequence)\b/i,
  /^alter\s+table\s+(?:only\s+)?"?(?<table>\w+)"?\s+(?:rename|drop)\b/i,
  /^alter\s+table\s+(?:only\s+)?"?(?<table>\w+)"?\s+alter\s+column\s+\S+\s+(?:set\s+data\s+)?type\b/i,
  /^alter\s+table\s+(?:only\s+)?"?(?<table>\w+)"?\s+alter\s+column\s+\S+\s+(?:set\s+not\s+null|drop\s+default)\b/i,
  /^alter\s+table\s+(?:only\s+)?"?(?<table>\w+)"?\s+add\s+column\b(?=.*\bnot\s+null\b)(?!.*\bdefault\b)/is,
  /^alter\s+table\s+(?:only\s+)?"?(?<table>\w+)"?\s+add\s+constraint\b/i,
  /^create\s+unique\s+index\s+\S+\s+on\s+"?(?<table>\w+)"?/i,
];

/** They remove, rename or restrict what earlier versions use. */
export function contractingStatements(text: string): string[] {
  const statements = text
    .split('--> statement-breakpoint')
    .map((part) => part.replaceAll(/^\s*--.*$/gm, '').trim())
    .filter((statement) => statement !== '');
  const made = new Set(statements.map((each) => /^create\s+table\s+"?(\w+)"?/i.exec(each)?.[1]));
  return statements.filter((statement) =>
    FORMS.some((form) => {
      const found = form.exec(statement);
      return found !== null && !(found.groups?.['table'] !== undefined && made.has(found.groups['table']));
    }),
  );
}

/** The rule "expand first, contract later" (docs/how-to/change-the-database.md). @param all names, in their order. */
export function problemsOf(name: string, text: string, all: readonly string[]): string[] {
  const found = contractingStatements(text);
  if (found.length === 0) return [];
  const expand = /^-- Contract of (\w+): /m.exec(text)?.[1];
  const guide = 'see docs/how-to/change-the-database.md';
  if (expand === undefined) {
    return found.map(
      (statement) => `${name} has no line "-- Contract of 0000_name: reason" for: ${statement}; ${guide}`,
    );
  }
  if (!all.includes(`${expand}.sql`) || `${expand}.sql` >= name) {
    return [`${name} is the contract of ${expand}, which does not precede it`];
  }
  // A migration with the number n is the one after n others.
  const [least, most] = [Number.parseInt(expand, 10) + 1, Number.parseInt(name, 10)];
  const raised = /update\s+"?schema_support"?\s+set\s+"?oldest_migrations"?\s*=\s*(\d+)/i.exec(text)?.[1];
  if (raised === undefined || Number(raised) < least || Number(raised) > most) {
    return [
      `${name} must set oldest_migrations of schema_support to the number of migrations of the first version that ` +
        `does not use what it removes: ${least} at least, ${most} at most; ${guide}`,
    ];
  }
  return [];
}
