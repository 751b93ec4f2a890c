// What was found beside what is wanted, word by word; heard as well as seen.

import { markWords } from '../base/same-words.ts'

/** The words of `found` that are not wanted, struck through. */
export function FoundText({ found, wanted }: { found: string; wanted: string }) {
  return (
    <code>
      {markWords(found, wanted).map(({ text, isOnlyHere }, index) => (
        <span key={`${index} ${text}`}>{isOnlyHere ? <del>{text}</del> : text} </span>
      ))}
    </code>
  )
}

/** The words of `wanted` that were not found, marked. */
export function WantedText({ found, wanted }: { found: string; wanted: string }) {
  return (
    <code>
      {markWords(wanted, found).map(({ text, isOnlyHere }, index) => (
        <span key={`${index} ${text}`}>{isOnlyHere ? <ins>{text}</ins> : text} </span>
      ))}
    </code>
  )
}
