// The DKIM keys of a domain: which sign, which wait for their record, and the next one.

import { type Static, Type } from 'typebox'
import { isoTime } from '../../base/clock.ts'
import { notFound } from '../../base/errors.ts'
import { type DkimKey, isSuperseded, keyRecord } from '../../directory/domains/dkim-keys.ts'
import type { Domain } from '../../directory/domains/domains.ts'
import { route } from '../../http/route.ts'
import { Id, listOf, Words } from '../../http/schema.ts'
import { DomainJson, presentDomain } from '../schemas/domain.ts'
import { record } from '../schemas/record.ts'
import { isoTimeOrNull, TimeOf, TimeOrNull } from '../schemas/time.ts'

const params = Type.Object({ domain_id: Id('domain') })
const Algorithm = Words(['rsa2048', 'ed25519'], 'Messages are signed with one key of each.')

const DkimKeyJson = record('DkimKey', 'A DKIM key of a domain; its private key stays on the appliance.', {
  selector: Type.String(),
  algorithm: Algorithm,
  state: Words(
    ['waiting', 'signing', 'missing', 'replaced', 'removable'],
    'waiting: its record was not found yet; signing: in use; missing: its record was found before, and not by the last check; ' +
      'replaced: a newer key signs, and messages in transit need its record; removable: its record can be removed from DNS.',
  ),
  name: Type.String({ description: 'Of its TXT record.' }),
  value: Type.String({ description: 'Of its TXT record.' }),
  created_at: TimeOf('When it was created.'),
  found_at: TimeOrNull('When its record was first found.'),
  replaced_at: TimeOrNull('When a newer key replaced it.'),
})

const listKeys = route({
  method: 'GET',
  path: '/domains/{domain_id}/dkim',
  docs: {
    operation: 'listDkimKeys',
    tag: 'Domains',
    summary: 'List the DKIM keys of a domain, newest first',
    description: 'The active key signs; a retired one stays in DNS until messages that it signed have arrived.',
  },
  access: { as: 'team', permission: 'domain.read' },
  params,
  reply: { schema: listOf(DkimKeyJson), list: 'whole' },
  handle({ params: { domain_id: id }, principal: { teamId }, app }) {
    const domain = app.directory.domains.get(teamId, id)
    const keys = app.directory.domains.keysOf(teamId, id)
    if (domain === undefined || keys === undefined) throw notFound('domain')
    const now = app.clock.now()
    return { items: keys.toReversed().map((key) => presentKey(key, domain.name, now)), next: null }
  },
})

const rotateKey = route({
  method: 'POST',
  path: '/domains/{domain_id}/dkim/rotate',
  docs: {
    operation: 'rotateDkimKey',
    tag: 'Domains',
    summary: 'Create the next DKIM key of a domain',
    description:
      'It signs once its record is found in DNS; until then the present key does. 409 while the record of the last key of the ' +
      'algorithm was never found, and with 20 keys.',
    errors: ['conflict'],
  },
  access: { as: 'team', permission: 'domain.create' },
  limits: { throttle: { times: 6, seconds: 60 } },
  params,
  body: {
    schema: record(
      'DkimRotation',
      'The algorithm of the next key.',
      { algorithm: Algorithm },
      { algorithm: 'rsa2048' },
    ),
  },
  reply: { schema: DomainJson, etag: true },
  async handle({ params: { domain_id: id }, body, principal, app, request }) {
    const algorithm = body.algorithm === 'ed25519' ? 'ed25519' : 'rsa'
    const check = (current: Domain) => request.matches(presentDomain(current))
    return presentDomain(await app.directory.domains.rotateKey(principal.teamId, id, algorithm, check))
  },
})

function stateOf(key: DkimKey, now: number): Static<typeof DkimKeyJson>['state'] {
  if (isSuperseded(key, now)) return 'removable'
  if (key.retiredAt !== null) return 'replaced'
  if (key.dnsOk) return 'signing'
  return key.foundAt === null ? 'waiting' : 'missing'
}

function presentKey(key: DkimKey, domainName: string, now: number): Static<typeof DkimKeyJson> {
  const { selector, algorithm, createdAt, foundAt, retiredAt } = key
  return {
    selector,
    algorithm: algorithm === 'rsa' ? 'rsa2048' : 'ed25519',
    state: stateOf(key, now),
    ...keyRecord(key, domainName),
    created_at: isoTime(createdAt),
    found_at: isoTimeOrNull(foundAt),
    replaced_at: isoTimeOrNull(retiredAt),
  }
}

export const domainKeys = [listKeys, rotateKey]
