// Words of a shell command that is shown for copying (POSIX.1-2024, Shell Command Language §2.2.2).

/** Words that mean themselves in every POSIX shell. */
const PLAIN = /^[A-Za-z0-9_@%+=:,./-]+$/

/** One word of a command, in single quotes unless it is plain: addresses and names may have any character that a shell acts on. */
export function shellWord(text: string): string {
  return PLAIN.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
