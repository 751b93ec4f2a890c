// Names no agent may have: people would take them for those who run the service.

const RESERVED: ReadonlySet<string> = new Set([
  ...['postmaster', 'abuse', 'admin', 'administrator', 'root', 'support', 'security', 'billing', 'noreply', 'no-reply'],
  ...['mailer-daemon', 'hostmaster', 'webmaster', 'help', 'info', 'sales', 'owner', 'invites', 'dmarc', 'mailstead'],
])

/** @param localPart in the form the API takes */
export function isFreeName(localPart: string): boolean {
  return !RESERVED.has(localPart) && !localPart.includes('..')
}
