// Which of a few names is most like one that was mistyped, for a sentence such as "Did you mean …?".

/** Longer names are compared by their beginning. */
const NAME_MAX = 64

/** The name of a list, which has at least one, that takes the fewest edits; the first of several. */
export function nearest(written: string, names: readonly string[]): string {
  const from = written.slice(0, NAME_MAX)
  let best = { name: names[0]!, edits: Infinity }
  for (const name of names) {
    const edits = editsBetween(from, name.slice(0, NAME_MAX))
    if (edits < best.edits) best = { name, edits }
  }
  return best.name
}

/** Characters to insert, remove or replace (Levenshtein). */
function editsBetween(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (let line = 1; line <= from.length; line++) {
    const next = [line]
    for (let column = 1; column <= to.length; column++) {
      const replaced = row[column - 1]! + (from[line - 1] === to[column - 1] ? 0 : 1)
      next.push(Math.min(replaced, row[column]! + 1, next[column - 1]! + 1))
    }
    row = next
  }
  return row[to.length]!
}
