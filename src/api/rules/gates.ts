// Routes of the Mailbox API that belong to a feature an operator can disable (docs/design/mailbox.md §2).

import type { ClientProtocol } from '../../config/client-protocols.ts'
import type { MailboxGate } from '../../config/config.ts'
import type { Route } from '../../http/route.ts'

/** Routes of each feature, as `METHOD path`. Protocols have none: `access/sign-in.ts` reads their gates. */
const BEHIND: Record<Exclude<MailboxGate, ClientProtocol>, RegExp> = {
  identity_mutation: /^(POST|PATCH|DELETE) \/mailbox\/identities(\/|$)/,
  quota_mutation: /^PATCH \/mailbox\/quotas\//,
  vacation_response: /^(GET|PUT) \/mailbox\/vacation-response$/,
  // Validating a script writes nothing.
  filter_script_writes: /^(POST|PUT|DELETE) \/mailbox\/sieve-scripts(?!\/validate$)(\/|$)/,
  events: /^GET \/mailbox\/events$/,
  raw_protocol: /^[A-Z]+ \/mailbox\/jmap(\/|$)/,
  attachment_parsing: /^GET \/mailbox\/attachments\/[^/]+\/parsed$/,
  message_copy: /^POST \/mailbox\/messages\/copy$/,
  message_import: /^POST \/mailbox\/messages\/import$/,
  message_parse: /^POST \/mailbox\/messages\/parse$/,
  blob_lookup: /^POST \/mailbox\/blobs\/lookup$/,
  blob_copy: /^POST \/mailbox\/blobs\/copy$/,
  forwarding: /^(GET|POST|PATCH|DELETE) \/mailbox\/forwards(\/|$)/,
  app_passwords: /^(GET|POST|PATCH|DELETE) \/mailbox\/app-passwords(\/|$)/,
}

/** A route with the gate of its feature, if it has one. */
export function behindGate(route: Route): Route {
  const name = `${route.method} ${route.path}`
  const gates = Object.entries(BEHIND) as [MailboxGate, RegExp][]
  const gate = gates.find(([, behind]) => behind.test(name))?.[0]
  return gate === undefined ? route : { ...route, gate }
}
