// SPF for sender domains with underscores: RFC 7208 4.3 requires the check, but mailauth rejects domains that are not host names.

import { randomName } from '../base/ids.ts'

/** A sender that mailauth can check, and the inverse mapping. */
export interface CheckableSender {
  sender: string
  /** Restores the original labels in a name or a text. */
  restore(text: string): string
}

/** Replaces each label with an underscore by a random one, so that labels can be restored after macro expansion (RFC 7208 7). */
export function checkableSender(mailFrom: string): CheckableSender {
  const labels = new Map<string, string>()
  const at = mailFrom.lastIndexOf('@') + 1
  const domain = mailFrom
    .slice(at)
    .split('.')
    .map((label) => {
      if (!label.includes('_')) return label
      const substitute = randomName(24)
      labels.set(substitute, label)
      return substitute
    })
  const restore = (text: string) => {
    let restored = text
    for (const [substitute, label] of labels) restored = restored.replaceAll(substitute, label)
    return restored
  }
  return { sender: mailFrom.slice(0, at) + domain.join('.'), restore }
}
