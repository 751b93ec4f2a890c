// Grants of mailboxes: no role opens a mailbox by itself, and grants are announced, limited, and end.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { deliveryFor } from '../../src/api/management/previews.ts'
import type { WebhookDeliveryDetail } from '../../src/api/schemas/webhook-delivery.ts'
import type { TeamPrincipal } from '../../src/directory/names/principal.ts'
import { type Json, startAppliance, type TestAppliance, type TestTeam } from '../support/appliance.ts'
import { type PersonClient, signInMember } from '../support/person.ts'

let appliance: TestAppliance
let team: TestTeam
let owner: PersonClient & { memberId: string }
let user: PersonClient & { memberId: string }
let box: { id: string; email: string; key: string }

before(async () => {
  appliance = await startAppliance()
  team = await appliance.team('Shop')
  await team.domain('shop.test')
  box = await team.mailbox('info@shop.test')
  owner = await signInMember(appliance, team.id, 'owner')
  user = await signInMember(appliance, team.id, 'user')
})
after(() => appliance.close())

const people = (mailbox = box.id) => `/as/${team.id}/api/v1/mailboxes/${mailbox}/people`
const inBox = (path: string, id = box.id) => `/as/${id}/api/v1/mailbox${path}`

test('an owner of the team cannot open a mailbox, and a user nothing of the team', async () => {
  assert.equal((await owner.get(inBox('/folders'))).status, 404)
  assert.deepEqual((await owner.get(people())).body.data, [])
  assert.equal((await user.get(`/as/${team.id}/api/v1/domains`)).status, 403)
  assert.equal((await user.get(people())).status, 403)
})

test('a grant opens a mailbox as far as it says, and ends at once', async () => {
  const put = (access: string) => owner.call('PUT', `${people()}/${user.memberId}`, { access })
  const granted = await put('reader')
  assert.deepEqual(
    [granted.status, granted.body.data.access, granted.body.data.created_by],
    [201, 'reader', owner.memberId],
  )
  const mailboxes: Json[] = (await user.get('/me/v1/self')).body.data.mailboxes
  assert.deepEqual(
    mailboxes.map(({ id, access }) => [id, access]),
    [[box.id, 'reader']],
  )
  assert.equal((await user.get(inBox('/folders'))).status, 200)
  const folder = { name: 'Bills' }
  assert.equal((await user.call('POST', inBox('/folders'), folder)).status, 403)
  assert.equal((await put('editor')).status, 200)
  assert.equal((await user.call('POST', inBox('/app-passwords'), { name: 'Phone' })).status, 403)
  assert.equal((await put('owner')).status, 200)
  assert.equal((await user.call('POST', inBox('/folders'), folder)).status, 201)
  const { status, body } = await user.call('POST', inBox('/messages/send'), {
    to: [{ email: 'info@shop.test' }],
    subject: 'Hello',
    text_body: 'Hello',
  })
  assert.ok(status === 201 || status === 202, JSON.stringify(body))
  assert.equal((await user.get(`/as/${team.id}/api/v1/mailbox/folders`)).status, 403, 'the team is not the mailbox')
  assert.equal((await owner.call('DELETE', `${people()}/${user.memberId}`)).status, 200)
  assert.equal((await user.get(inBox('/folders'))).status, 404)
  assert.equal((await owner.call('DELETE', `${people()}/${user.memberId}`)).status, 404)
})

test('Self says what each access opens and how many threads are unread, and nothing of another team', async () => {
  const mailboxesOf = async (person: PersonClient): Promise<Json[]> =>
    (await person.get('/me/v1/self')).body.data.mailboxes
  const reader = await signInMember(appliance, team.id, 'user', 'reader@people.example')
  const other = await appliance.team('Elsewhere')
  const stranger = await signInMember(appliance, other.id, 'owner', 'stranger@people.example')
  const unread = await team.mailbox('unread@shop.test')
  const scopes = {
    reader: ['mailbox.read'],
    editor: ['mailbox.read', 'email.receive', 'email.send'],
    owner: ['mailbox.read', 'email.receive', 'mailbox.write', 'email.send'],
  }
  for (const [access, capabilities] of Object.entries(scopes)) {
    await owner.call('PUT', `${people(unread.id)}/${reader.memberId}`, { access })
    const [mailbox, ...more] = await mailboxesOf(reader)
    assert.deepEqual(
      [mailbox!.access, mailbox!.capabilities, mailbox!.unread_threads, more],
      [access, capabilities, 0, []],
    )
  }
  const send = (subject: string) =>
    appliance.call('POST', '/mailbox/messages/send', box.key, {
      to: [{ email: unread.email }],
      subject,
      text_body: 'x',
    })
  for (const subject of ['One', 'Two']) assert.ok((await send(subject)).status < 300)
  await appliance.settle()
  // Access of the last round is that of an owner, who got a message of the first grants as well.
  const inbox = (await reader.get(inBox('/folders', unread.id))).body.data.find(({ role }: Json) => role === 'inbox')
  assert.equal((await mailboxesOf(reader))[0]!.unread_threads, inbox.unread_threads)
  assert.ok(inbox.unread_threads >= 2)
  assert.deepEqual([await mailboxesOf(stranger), await mailboxesOf(owner)], [[], []])
})

test('the list of mailboxes says who opens each, to those who may give access', async () => {
  const [first, second, third, fourth] = await Promise.all(
    ['a', 'b', 'c', 'd'].map((name) => signInMember(appliance, team.id, 'user', `${name}@people.example`)),
  )
  const listed = await team.mailbox('listed@shop.test')
  for (const { memberId } of [first!, second!, third!, fourth!])
    await owner.call('PUT', `${people(listed.id)}/${memberId}`, { access: 'reader' })
  const path = '/mailboxes?include=people&q=listed'
  const [mailbox] = (await appliance.get(path, team.key)).body.data as [Json]
  assert.equal(mailbox.people_count, 4)
  assert.equal(mailbox.people.length, 3)
  assert.deepEqual(mailbox.people[0], { member_id: first!.memberId, email: 'a@people.example', access: 'reader' })
  const [plain] = (await appliance.get('/mailboxes?q=listed', team.key)).body.data as [Json]
  assert.deepEqual([plain.people, plain.people_count], [undefined, undefined])
  const viewer = await signInMember(appliance, team.id, 'viewer', 'looks@people.example')
  assert.equal((await viewer.get(`/as/${team.id}/api/v1${path}`)).status, 403)
  assert.equal((await viewer.get(`/as/${team.id}/api/v1/mailboxes?q=listed`)).status, 200)
  const other = await appliance.team('Away')
  assert.deepEqual((await appliance.get('/mailboxes?include=people', other.key)).body.data, [])
})

test('no role reads the begin of a received message: neither its event nor the call of a webhook', async () => {
  const { status } = await appliance.call('POST', '/mailbox/messages/send', box.key, {
    to: [{ email: box.email }],
    subject: 'Code',
    text_body: 'Your code is 123456',
  })
  assert.ok(status < 300)
  await appliance.settle()
  const viewer = await signInMember(appliance, team.id, 'viewer')
  const previews = (body: { data: Json[] }) => body.data.map(({ data }) => data.preview)
  const byKey = previews((await appliance.call('GET', '/events?type=message.received', team.key)).body)
  assert.ok(byKey.includes('Your code is 123456'), 'a key sees what webhooks are sent')
  for (const person of [owner, viewer]) {
    const { body } = await person.get(`/as/${team.id}/api/v1/events?type=message.received`)
    assert.deepEqual(
      previews(body),
      byKey.map(() => ''),
    )
    const one = await person.get(`/as/${team.id}/api/v1/events/${body.data[0].id}`)
    assert.equal(one.body.data.data.preview, '')
  }
  const [event] = (await appliance.call('GET', '/events?type=message.received', team.key)).body.data
  const call = {
    ...{ event_type: event.type, request_payload: JSON.stringify(event), request_payload_sha256: 'ab'.repeat(32) },
    request_headers: {
      'X-Service-Signature': 'sha256=00',
      'webhook-signature': 'v1,00',
      'X-Service-Event-Id': event.id,
    },
  } as unknown as WebhookDeliveryDetail
  const { vault } = appliance.app
  const key: TeamPrincipal = { kind: 'team', keyId: 'key_x', teamId: team.id, permissions: [] }
  assert.equal(deliveryFor(key, call, vault), call)
  const seen = deliveryFor({ ...key, person: { email: viewer.email, memberId: viewer.memberId } }, call, vault)
  assert.deepEqual(seen.request_headers, { 'X-Service-Event-Id': event.id }, 'no signature of the text')
  assert.match(seen.request_payload_sha256, /^[0-9a-f]{64}$/)
  assert.notEqual(seen.request_payload_sha256, call.request_payload_sha256, 'nor its hash')
  assert.deepEqual(JSON.parse(seen.request_payload!), { ...event, data: { ...event.data, preview: '' } })
})

test('nothing is granted across teams', async () => {
  const other = await appliance.team('Other')
  await other.domain('other.test')
  const foreign = await other.mailbox('eve@other.test')
  const stranger = await signInMember(appliance, other.id, 'owner', 'eva@people.example')
  const put = (mailbox: string, member: string) =>
    owner.call('PUT', `${people(mailbox)}/${member}`, { access: 'owner' })
  assert.equal((await put(foreign.id, owner.memberId)).status, 404)
  assert.equal((await put(box.id, stranger.memberId)).status, 404)
  assert.equal((await stranger.get(inBox('/folders'))).status, 404)
})

test('every other owner is notified; the member with the address of a mailbox is its owner', async () => {
  const ana = await team.mailbox('ana@shop.test')
  const anaPerson = await signInMember(appliance, team.id, 'user', 'ana@shop.test')
  assert.equal((await anaPerson.get(inBox('/folders', ana.id))).status, 200)
  const bob = await signInMember(appliance, team.id, 'user', 'bob@shop.test')
  const bobBox = await team.mailbox('bob@shop.test')
  assert.equal((await bob.get(inBox('/folders', bobBox.id))).status, 200)
  await owner.call('PUT', `${people(ana.id)}/${owner.memberId}`, { access: 'reader' })
  await appliance.settle()
  const told: Json[] = (await anaPerson.get(inBox('/messages', ana.id))).body.data
  assert.deepEqual(
    told.map(({ subject }) => subject),
    ['Access to ana@shop.test'],
  )
})

test('a mailbox that is deleted takes the person with its address along', async () => {
  const { app } = appliance
  const cem = await team.mailbox('cem@shop.test')
  const person = await signInMember(appliance, team.id, 'user', 'cem@shop.test')
  const { codes } = (await person.call('POST', '/me/v1/recovery-codes')).body.data
  const remove = () => owner.call('DELETE', `/as/${team.id}/api/v1/mailboxes/${cem.id}`)
  await app.people.changeRole(team.id, person.memberId, 'owner', () => {})
  await app.people.changeRole(team.id, owner.memberId, 'admin', () => {})
  assert.equal((await remove()).status, 409, 'the last owner of a team')
  await app.people.changeRole(team.id, owner.memberId, 'owner', () => {})
  assert.equal((await remove()).status, 200)
  assert.equal((await person.get('/me/v1/self')).status, 401)
  assert.deepEqual(app.people.members.of('cem@shop.test'), [])
  assert.equal(await app.db.write((tx) => app.people.recoveryCodes.use(tx, 'cem@shop.test', codes[0])), undefined)
  await team.mailbox('cem@shop.test')
  const next = await signInMember(appliance, team.id, 'user', 'cem@shop.test')
  assert.equal((await remove()).status, 200, 'deleting it again changes nothing')
  assert.equal((await next.get('/me/v1/self')).status, 200)
})

test('no person becomes the only owner of a mailbox unseen', async () => {
  const dan = await team.mailbox('dan@shop.test')
  const copy = await team.mailbox('copy@shop.test')
  const own = await signInMember(appliance, team.id, 'user', 'dan@shop.test')
  const second = await signInMember(appliance, team.id, 'user', copy.email)
  const subjects = async (mailbox: { id: string; key: string }) => {
    await appliance.settle()
    const { body } = await appliance.call('GET', '/mailbox/messages', mailbox.key)
    return (body.data as Json[]).map(({ subject }) => subject)
  }
  const put = (memberId: string, access: string) => owner.call('PUT', `${people(dan.id)}/${memberId}`, { access })
  assert.equal((await put(second.memberId, 'owner')).status, 201)
  assert.equal((await subjects(dan)).length, 1)
  assert.equal((await put(own.memberId, 'reader')).status, 200)
  assert.equal((await subjects(dan)).length, 2, 'an owner whose access becomes less')
  assert.equal((await subjects(copy)).length, 1)
  assert.equal((await owner.call('DELETE', `${people(dan.id)}/${second.memberId}`)).status, 200)
  assert.equal((await subjects(copy)).length, 2, 'an owner who is removed')
  assert.equal((await put(owner.memberId, 'owner')).status, 201)
})

test('the app passwords a member made end with their access, not those the team made', async () => {
  const lea = await team.mailbox('lea@shop.test')
  const person = await signInMember(appliance, team.id, 'user', 'lea@people.example')
  const path = `/as/${team.id}/api/v1/mailboxes/${lea.id}/app-passwords`
  const ofTeam = (await owner.call('POST', path, { name: 'Scanner' })).body.data.id
  const put = (access: string) => owner.call('PUT', `${people(lea.id)}/${person.memberId}`, { access })
  const make = async () => {
    assert.ok((await put('owner')).status < 300)
    const made = await person.call('POST', inBox('/app-passwords', lea.id), { name: 'Phone' })
    assert.equal(made.status, 201, JSON.stringify(made.body))
  }
  const active = async () => {
    const { body } = await owner.get(`${path}?status=active`)
    return (body.data as Json[]).map(({ id }) => id)
  }
  await make()
  assert.equal((await put('owner')).status, 200)
  assert.equal((await active()).length, 2, 'an owner who stays one')
  assert.equal((await put('reader')).status, 200)
  assert.deepEqual(await active(), [ofTeam], 'access that becomes less')
  await make()
  assert.equal((await owner.call('DELETE', `${people(lea.id)}/${person.memberId}`)).status, 200)
  assert.deepEqual(await active(), [ofTeam], 'access that is taken back')
  await make()
  assert.equal((await owner.call('DELETE', `/as/${team.id}/api/v1/team/members/${person.memberId}`)).status, 200)
  assert.deepEqual(await active(), [ofTeam], 'a member who left')
})

test('the forwards a member made to their own address end with their access; others stay and are counted', async () => {
  const ivy = await team.mailbox('ivy@shop.test')
  const person = await signInMember(appliance, team.id, 'user', 'ivy@people.example')
  const put = (access: string) => owner.call('PUT', `${people(ivy.id)}/${person.memberId}`, { access })
  const forward = async (to: string) => {
    const made = await person.call('POST', inBox('/forwards', ivy.id), { to })
    assert.equal(made.status, 201, JSON.stringify(made.body))
  }
  const active = () => appliance.app.directory.forwards.list(ivy.id).map(({ email }) => email)
  assert.equal((await put('owner')).status, 201)
  await forward('Ivy@people.example')
  await forward('desk@elsewhere.example')
  assert.equal((await put('owner')).status, 200)
  assert.equal(active().length, 2, 'an owner who stays one')
  assert.equal((await put('reader')).status, 200)
  assert.deepEqual(active(), ['desk@elsewhere.example'], 'access that becomes less')
  await put('owner')
  await forward('ivy@people.example')
  const { db } = appliance.app
  // Its receiver can allow it again.
  await db.write((tx) => tx.run(`UPDATE forwards SET state = 'ended' WHERE folded = 'ivy@people.example'`))
  const { body } = await owner.call('DELETE', `${people(ivy.id)}/${person.memberId}`)
  assert.deepEqual(body.data, { deleted: true, member_id: person.memberId, forwards: 1 })
  assert.deepEqual(active(), ['desk@elsewhere.example'], 'access that is taken back')
})

test('the owners of a mailbox hear that one of them left the team', async () => {
  const kim = await team.mailbox('kim@shop.test')
  const mia = await team.mailbox('mia@shop.test')
  const first = await signInMember(appliance, team.id, 'user', kim.email)
  const second = await signInMember(appliance, team.id, 'user', mia.email)
  await owner.call('PUT', `${people(kim.id)}/${second.memberId}`, { access: 'owner' })
  await appliance.settle()
  const notices = async (mailbox: { key: string }) => {
    await appliance.settle()
    const { body } = await appliance.call('GET', '/mailbox/messages', mailbox.key)
    return (body.data as Json[]).filter(({ subject }) => subject === 'Access to kim@shop.test').length
  }
  const before = [await notices(kim), await notices(mia)]
  assert.equal((await owner.call('DELETE', `/as/${team.id}/api/v1/team/members/${first.memberId}`)).status, 200)
  assert.deepEqual([await notices(kim), await notices(mia)], [before[0]! + 1, before[1]! + 1])
})

test('nobody makes a key, an app password, a forward or a script that redirects for a mailbox unseen by its owners', async () => {
  const fay = await team.mailbox('fay@shop.test')
  const person = await signInMember(appliance, team.id, 'user', fay.email)
  const notices = async () => {
    await appliance.settle()
    const { body } = await person.get(inBox('/messages', fay.id))
    return (body.data as Json[]).filter(({ subject }) => subject === 'Access to fay@shop.test').length
  }
  const path = `/mailboxes/${fay.id}`
  const make = (what: string, body: object) => owner.call('POST', `/as/${team.id}/api/v1${path}/${what}`, body)
  const key = await make('api-keys', { name: 'Reader' })
  assert.deepEqual([key.status, await notices()], [201, 1])
  assert.equal((await make(`api-keys/${key.body.data.id}/rotate`, {})).status, 200)
  assert.equal(await notices(), 2)
  assert.deepEqual([(await make('app-passwords', { name: 'Reader' })).status, await notices()], [201, 3])
  const forward = await make('forwards', { to: 'boss@elsewhere.example' })
  assert.deepEqual([forward.status, forward.body.data.created_by, await notices()], [201, owner.memberId, 4])
  const byKey = await appliance.call('POST', `${path}/app-passwords`, team.key, { name: 'Program' })
  assert.deepEqual([byKey.status, await notices()], [201, 5])
  const redirect = { name: 'Away', content: 'redirect "boss@elsewhere.example";' }
  assert.deepEqual([(await make('sieve-scripts', redirect)).status, await notices()], [201, 6])
  assert.equal((await make('sieve-scripts', { name: 'Kept', content: 'keep;' })).status, 201)
  assert.equal((await make('api-keys', { name: '' })).status, 422)
  assert.equal((await person.call('POST', inBox('/app-passwords', fay.id), { name: 'Mine' })).status, 201)
  assert.equal(await notices(), 6, 'not for what failed, nor to the person who made it')
})

test('inviting the address of a mailbox gives it away, of which its owners are notified', async () => {
  const desk = await team.mailbox('front@shop.test')
  const eli = await team.mailbox('eli@shop.test')
  const person = await signInMember(appliance, team.id, 'user', eli.email)
  await owner.call('PUT', `${people(desk.id)}/${person.memberId}`, { access: 'owner' })
  const invited = await owner.call('POST', `/as/${team.id}/api/v1/team/members`, { email: desk.email, role: 'user' })
  assert.equal(invited.status, 202, JSON.stringify(invited.body))
  await appliance.settle()
  const { body } = await appliance.call('GET', '/mailbox/messages', eli.key)
  assert.deepEqual(
    body.data.map(({ subject }: Json) => subject),
    ['Access to front@shop.test'],
  )
})
