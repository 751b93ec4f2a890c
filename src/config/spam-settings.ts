// The settings of the spam filter, of blocklists, and of other filters that are asked.

import { Type } from 'typebox'
import { HostName } from './setting-types.ts'

/** Part of the list in `config.ts`, in the order of the documentation. */
export const spamSettings = {
  DNSBL: Type.Array(HostName, {
    default: [],
    description:
      'Blocklists of sending hosts on the DNS, such as zen.spamhaus.org. Each has terms of use: most are free for small servers with a resolver of their own.',
  }),
  DNSWL: Type.Array(HostName, {
    default: [],
    description: 'Allowlists of sending hosts on the DNS, such as list.dnswl.org.',
  }),
  DOMAIN_BLOCKLISTS: Type.Array(HostName, {
    default: [],
    description:
      'Blocklists of domains on the DNS, asked about the domain of the author and those of links, such as dbl.spamhaus.org.',
  }),
  SPAM_JUNK_SCORE: Type.Number({
    default: 5,
    minimum: 0,
    maximum: 1000,
    description:
      'Spam score from which a message is filed into Junk. A message with an ambiguous From field, or with an unauthenticated From domain of this server, is filed there whatever its score.',
  }),
  SPAM_JUNK_HAM_LOSS: Type.Number({
    default: 0.001,
    minimum: 0.00001,
    maximum: 0.05,
    description:
      'Share of good messages whose words alone may file them into Junk: 0.001 is about 1 in 1,000. A smaller share catches less spam.',
  }),
  SPAM_REFUSE_SCORE: Type.Number({
    default: 15,
    minimum: 0,
    maximum: 1000,
    description:
      'Spam score from which a message is rejected. Only facts about its sender and its form count; content alone leads to Junk.',
  }),
  RSPAMD_URL: Type.String({
    default: '',
    pattern: '^(?:https?://[^\\s/?#]+/?)?$',
    description:
      'URL of the controller of rspamd, such as http://127.0.0.1:11334, which is asked about received messages and learns labels. Empty: not asked.',
  }),
  RSPAMD_PASSWORD: Type.String({
    default: '',
    description: 'Password of the controller of rspamd, for learning from another machine.',
  }),
} as const
