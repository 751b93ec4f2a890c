// Which people fit what is typed in a field of recipients.

import type { TypedAddress } from './address-list.ts'

const MOST_SUGGESTED = 6

/** Whether a person begins like the text: by the address, or by a word of the name. */
function begins({ name, email }: TypedAddress, text: string): boolean {
  const words = [...name.toLowerCase().split(/\s+/), email.toLowerCase(), email.slice(email.indexOf('@') + 1)]
  return words.some((word) => word.startsWith(text)) || name.toLowerCase().startsWith(text)
}

/** Those who fit a text, in the order of the people. @param taken addresses that are recipients already */
export function suggest(people: readonly TypedAddress[], text: string, taken: ReadonlySet<string>): TypedAddress[] {
  const typed = text.trim().toLowerCase()
  if (typed === '') return []
  return people
    .filter((person) => !taken.has(person.email.toLowerCase()) && begins(person, typed))
    .slice(0, MOST_SUGGESTED)
}
