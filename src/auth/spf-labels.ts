// Sender domains with underscores for SPF: RFC 7208 4.3 has them checked, mailauth refuses every domain that is no host name.

import { randomName } from '../base/ids.ts'

/** A sender mailauth can check, and the way back to what it stands for. */
export interface CheckableSender {
  sender: string
  /** Puts the true labels into a name that is asked for, or into a text. */
  restore(text: string): string
}

/** Each label with an underscore becomes a random one, so that whole labels come back even from macros (RFC 7208 7). */
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
