// Names that cannot be registered (RFC 2606 §2, RFC 6761 §6): a mail host with such a name is a trial.

const RESERVED = new Set(['test', 'example', 'invalid', 'localhost'])

/** True for names under the reserved top-level domains, which are verified without DNS (docs/design/directory.md §6.1). */
export function isReserved(name: string): boolean {
  return RESERVED.has(name.slice(name.lastIndexOf('.') + 1))
}

/** True for a name that leads every machine to itself (RFC 6761 §6.3): no record may name it to others. */
export function isLoopbackName(name: string): boolean {
  return name === 'localhost' || name.endsWith('.localhost')
}

/** Whether the appliance still has the name that every machine has: nothing outside of it depends on it yet. */
export function isTrial({ MAIL_HOSTS }: { MAIL_HOSTS: readonly string[] }): boolean {
  return isLoopbackName(MAIL_HOSTS[0]!)
}
