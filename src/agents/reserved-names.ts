// Local parts that agents cannot register, because they suggest the operator of the service.

const RESERVED: ReadonlySet<string> = new Set([
  ...['postmaster', 'abuse', 'admin', 'administrator', 'root', 'support', 'security', 'billing', 'noreply', 'no-reply'],
  ...['mailer-daemon', 'hostmaster', 'webmaster', 'help', 'info', 'sales', 'owner', 'invites', 'dmarc', 'mailstead'],
])

/** @param localPart in the form the API accepts */
export function isFreeName(localPart: string): boolean {
  return !RESERVED.has(localPart) && !localPart.includes('..')
}
