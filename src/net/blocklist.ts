// Lists of hosts and domains on the DNS: one question, and the test that shows whether a list can be used (RFC 5782).

import type { Resolver } from '../base/resolver.ts'

export type BlocklistKind = 'address' | 'domain'

/** What a list says; `error` also for an answer that is no listing, such as that of a limit. */
export type BlocklistAnswer = 'listed' | 'unlisted' | 'error'

/** Whether a list can be used, and if not, why. */
export type BlocklistState = 'usable' | 'refused' | 'lists_everything' | 'lists_nothing'

/** RFC 5782 §5: every list of addresses lists 127.0.0.2, and none 127.0.0.1. */
const TEST_ENTRIES = { address: ['2.0.0.127', '1.0.0.127'], domain: ['test', 'invalid'] } as const

/** Never throws. */
export async function askList(resolver: Pick<Resolver, 'resolve'>, name: string): Promise<BlocklistAnswer> {
  try {
    const records = (await resolver.resolve(name, 'A')) as string[]
    return records.some(isListing) ? 'listed' : 'error'
  } catch (error) {
    const { code = '' } = error as { code?: string }
    return code === 'ENOTFOUND' || code === 'ENODATA' ? 'unlisted' : 'error'
  }
}

/** Asks for the test entries of a list. Few lists of domains have them: one that lists what cannot exist is wrong. */
export async function testList(
  resolver: Pick<Resolver, 'resolve'>,
  kind: BlocklistKind,
  list: string,
): Promise<BlocklistState> {
  const [first, second] = await Promise.all(TEST_ENTRIES[kind].map((entry) => askList(resolver, `${entry}.${list}`)))
  if (second === 'listed') return 'lists_everything'
  if (second === 'error' || (kind === 'address' && first === 'error')) return 'refused'
  return kind === 'domain' || first === 'listed' ? 'usable' : 'lists_nothing'
}

/** Lists answer in 127.0.0.0/16 (RFC 5782 §2.1); 127.255.255.0/24 says that the question was refused, another address that the list is gone. */
function isListing(record: string): boolean {
  return record.startsWith('127.0.')
}
