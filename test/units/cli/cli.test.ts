// The operator's commands, from the outside: what they print, how they end, and that they work beside an open house.

import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, beforeEach, describe, it } from 'node:test'
import { openLog } from '../../../src/base/log.ts'
import { runCli } from '../../../src/cli/cli.ts'
import { loadConfig } from '../../../src/config/load.ts'
import { openContext } from '../../../src/context.ts'
import { Db } from '../../../src/db/db.ts'
import { type LocalDns, startDns } from '../../support/dns.ts'
import { ROOT } from '../../support/source.ts'

interface Ended {
  code: number
  out: string[]
  err: string[]
}

let root: string
let dns: LocalDns
let env: Record<string, string>
before(async () => {
  root = await mkdtemp(join(tmpdir(), 'mailstead-cli-'))
  dns = await startDns({})
})
after(async () => {
  await dns.close()
  await rm(root, { recursive: true })
})
beforeEach(async () => {
  env = { DATA_DIR: await mkdtemp(join(root, 'data-')), DNS_SERVERS: dns.address, MAIL_HOSTS: 'mx.mailstead.test' }
  // As an image sets them; the ports of listeners are named in a trial.
  env.CLIENT_PUBLIC_PORTS = '993,143,465,587,4190'
})

async function mailstead(...argv: string[]): Promise<Ended> {
  const out: string[] = []
  const err: string[] = []
  const code = await runCli(argv, { out: (line) => out.push(line), err: (line) => err.push(line), env })
  return { code, out, err }
}

/** Runs a command that must succeed, and reads the one JSON value it prints. */
async function json(...argv: string[]) {
  const { code, out, err } = await mailstead(...argv, '--json')
  assert.deepEqual({ code, err, lines: out.length }, { code: 0, err: [], lines: 1 }, `${argv.join(' ')}: ${err} ${out}`)
  return JSON.parse(out[0]!)
}

async function refused(argv: string[], ...parts: string[]): Promise<void> {
  const { code, out, err } = await mailstead(...argv)
  assert.deepEqual({ code, out, lines: err.length }, { code: 1, out: [], lines: 1 }, `${argv.join(' ')}: ${err} ${out}`)
  for (const part of parts) assert.ok(err[0]!.includes(part), `${argv.join(' ')}: ${err[0]}`)
  assert.match(err[0]!, /^mailstead: [^\n]+\.$/)
}

describe('the way of a new appliance', () => {
  it('from an empty folder to a mailbox with a key', async () => {
    const made = await json('setup', '--team-name', 'Ours')
    assert.equal(made.created, true)
    assert.equal(made.data_dir, env.DATA_DIR)
    assert.equal(made.team.name, 'Ours')
    assert.match(made.api_key.key, /^srk_/)
    assert.deepEqual(await json('setup'), { created: false, data_dir: env.DATA_DIR })

    const domain = await json('domain', 'add', 'Demo.test')
    assert.deepEqual([domain.domain, domain.verification_status], ['demo.test', 'verified'])
    const mailbox = await json(
      'mailbox',
      'create',
      'Ana@demo.test',
      '--display-name',
      'Ana',
      '--quota-bytes',
      '20000000',
      '--key',
    )
    assert.deepEqual([mailbox.email, mailbox.display_name, mailbox.quota_bytes], ['ana@demo.test', 'Ana', 20_000_000])
    assert.match(mailbox.api_key.key, /^smk_/)
    const plain = await json('mailbox', 'create', 'bob@demo.test')
    assert.equal('api_key' in plain, false)
    const key = await json('mailbox', 'key', 'BOB@demo.test', '--name', 'reader')
    assert.deepEqual([key.name, key.mailbox_id], ['reader', plain.id])
    const root = await json('key', 'create', '--role', 'root:readonly')
    assert.equal(root.role, 'root:readonly')

    const app = await openContext(loadConfig(env), { log: openLog('silent') })
    try {
      for (const secret of [made.api_key.key, mailbox.api_key.key, key.key, root.key]) {
        const known = app.directory.keys.recognise(secret)
        assert.equal(known!.principal.teamId, made.team.id)
      }
      assert.equal(app.store.accounts.byMailbox(mailbox.id)!.messageCount, 0)
    } finally {
      await app.close()
    }
  })

  it('prints its version, and opens nothing for it', async () => {
    const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'))
    assert.deepEqual(await mailstead('--version'), { code: 0, out: [`mailstead ${version}`], err: [] })
    assert.deepEqual(await mailstead('--version', '--json'), { code: 0, out: [JSON.stringify({ version })], err: [] })
  })

  it('tells a person the same in words, the key included, and nothing of it in errors', async () => {
    const { code, out, err } = await mailstead('setup')
    assert.equal(code, 0)
    assert.deepEqual(err, [])
    assert.match(out.join('\n'), /srk_[0-9A-Za-z]{46}/)
    assert.ok(out[0]!.includes(env.DATA_DIR!))
    const again = await mailstead('setup')
    assert.doesNotMatch(again.out.join('\n'), /srk_/)
  })

  it('proves a domain by DNS and ends with 1 until it is proven', async () => {
    await json('setup')
    const added = await mailstead('domain', 'add', 'example.org')
    const proof = /^ {2}(_mail-verify\.example\.org) +TXT +(\S+)$/m.exec(added.out.join('\n'))!
    assert.equal(added.out.filter((line) => / TXT | MX /.test(line)).length, 5)
    const early = await mailstead('domain', 'verify', 'example.org', '--json')
    assert.equal(early.code, 1)
    assert.match(
      early.err[0]!,
      /"message":"example\.org is not verified: _mail-verify\.example\.org has no verification record\."/,
    )
    assert.equal(JSON.parse(early.out[0]!).verification_status, 'pending')
    dns.zone[proof[1]!] = { TXT: [proof[2]!] }
    const later = await json('domain', 'verify', 'EXAMPLE.org')
    assert.equal(later.verification_status, 'verified')
    assert.equal(later.checks.length, 5)
    assert.deepEqual(
      later.client_checks.map(({ name, ok }: { name: string; ok: boolean }) => `${name} ${ok}`).slice(0, 2),
      ['_imaps._tcp.example.org false', '_imap._tcp.example.org true'],
    )
    const shown = (await mailstead('domain', 'verify', 'example.org')).out.join('\n')
    assert.match(shown, /^For mail programs, recommended:\n +-- +SRV +_imaps\._tcp\.example\.org +expected: 0 1 993 /m)
    assert.match(added.out.join('\n'), /^ {2}_imaps\._tcp\.example\.org +SRV +0 1 993 /m)
    delete dns.zone[proof[1]!]
  })

  it('shows the MTA-STS mode of a domain, and enforces nothing that would keep mail from arriving', async () => {
    await json('setup')
    await json('domain', 'add', 'sts.test')
    const { out } = await mailstead('domain', 'mta-sts', 'sts.test')
    assert.equal(out[0], 'The MTA-STS policy of sts.test is in mode testing.')
    assert.match(out.join('\n'), /^missing +mx +sts\.test has no MX record\.$/m)
    await refused(['domain', 'mta-sts', 'sts.test', '--mode', 'enforce'], 'sts.test has no MX record.')
    await refused(['domain', 'mta-sts', 'sts.test', '--mode', 'soon'], 'testing')
    assert.equal((await json('domain', 'mta-sts', 'sts.test', '--mode', 'none')).mode, 'none')
  })

  it('says when no receiver has reported about a domain', async () => {
    await json('setup')
    await json('domain', 'add', 'quiet.test')
    const { out } = await mailstead('domain', 'reports', 'quiet.test')
    const none = ['No report about quiet.test has come in 28 days.', '', 'No report about TLS has come in 28 days.']
    assert.deepEqual(out, none)
  })

  it('replaces the key a domain signs with, and tells what to put into DNS and what to take out', async () => {
    await json('setup')
    const added = await json('domain', 'add', 'keys.example.org')
    for (const { name, value } of [added.dns_records.verification, ...added.dns_records.dkim])
      dns.zone[name] = { TXT: [value] }
    await json('domain', 'verify', 'keys.example.org')
    const told = await mailstead('domain', 'rotate-key', 'Keys.example.org')
    assert.equal(told.code, 0)
    const record = /^ {2}(s2\._domainkey\.keys\.example\.org) +TXT +(v=DKIM1; k=rsa; p=\S+)$/m.exec(
      told.out.join('\n'),
    )!
    await refused(['domain', 'rotate-key', 'keys.example.org'], record[1]!, 'DNS')
    const second = await json('domain', 'rotate-key', 'keys.example.org', '--ed25519')
    const names = second.dns_records.dkim.map(({ name }: { name: string }) => name.split('.')[0])
    assert.deepEqual(names, ['s1', 's2', 's3'])
    assert.match(second.dns_records.dkim[2].value, /k=ed25519/)
    await json('domain', 'add', 'keys.test')
    assert.match(
      (await mailstead('domain', 'rotate-key', 'keys.test')).out.join('\n'),
      /signs with s2\._domainkey\.keys\.test from now on/,
    )
    await refused(['domain', 'rotate-key', 'other.test'], 'other.test')
  })
})

describe('beside an open house', () => {
  it('what a command makes is there at once', async () => {
    const { team } = await json('setup')
    const app = await openContext(loadConfig(env), { log: openLog('silent') })
    try {
      await json('domain', 'add', 'demo.test')
      const mailbox = await json('mailbox', 'create', 'ana@demo.test', '--key')
      const found = app.directory.mailboxes.receiver('ana', 'demo.test')
      assert.equal(found.reason === null && found.mailbox.id, mailbox.id)
      assert.equal(app.directory.keys.recognise(mailbox.api_key.key)!.suspended, false)
      // Both write at once; neither is refused because the other does.
      const [made] = await Promise.all([
        json('mailbox', 'create', 'bob@demo.test', '--team', team.id),
        ...Array.from({ length: 20 }, (_, i) => app.directory.teams.create({ name: `t${i}` })),
      ])
      assert.equal(app.directory.mailboxes.byId(made.id)!.email, 'bob@demo.test')
    } finally {
      await app.close()
    }
  })
})

describe('which team', () => {
  it('is asked for when there are several, and found by id or by a name only one has', async () => {
    await refused(['key', 'create'], 'mailstead setup')
    const { team: first } = await json('setup', '--team-name', 'One')
    const second = await json('team', 'create', '--name', 'Two')
    const third = await json('team', 'create', '--name', 'Two')
    await refused(['key', 'create'], '--team', first.id, second.id)
    await refused(['key', 'create', '--team', 'Two'], second.id, third.id)
    await refused(['key', 'create', '--team', 'Three'], 'Three')
    assert.ok((await json('key', 'create', '--team', 'One')).key)
    assert.ok((await json('domain', 'add', 'demo.test', '--team', second.id)).id)
    await refused(['domain', 'verify', 'demo.test', '--team', third.id], 'demo.test')
    await refused(['mailbox', 'create', 'a@demo.test', '--team', third.id], 'demo.test')
  })
})

describe('help', () => {
  it('lists the commands, those of a word, and the options of one', async () => {
    const all = await mailstead('--help')
    assert.equal(all.code, 0)
    const words = [
      'setup',
      'serve',
      'team create',
      'key create',
      'domain add',
      'domain verify',
      'domain rotate-key',
      'mailbox create',
      'mailbox key',
      'mailbox alias',
      'mailbox app-password create',
      'mailbox settings',
      'mailbox sign-ins',
    ]
    for (const word of words)
      assert.ok(
        all.out.some((line) => line.startsWith(`  ${word}`)),
        word,
      )
    const some = await mailstead('domain', '-h')
    assert.ok(!some.out.some((line) => line.includes('mailbox')))
    for (const word of words) {
      const one = await mailstead(...word.split(' '), '--help')
      assert.equal(one.code, 0)
      assert.ok(
        one.out.some((line) => line.includes('--json')),
        word,
      )
    }
    // Asking for help makes nothing.
    await refused(['key', 'create'], 'mailstead setup')
  })
})

describe('what is wrong is said in one sentence', () => {
  const rows: [string[], ...string[]][] = [
    [[], '--help'],
    [['frob'], 'frob'],
    [['domain'], 'domain'],
    [['frob', '--help'], 'frob'],
    [['key'], 'key list, key create, key revoke', 'mailstead key --help'],
    [['key', 'make', 'x'], 'There is no command key make', 'key create', 'mailstead key --help'],
    [['mailbox', 'create'], 'email', 'mailbox create --help'],
    [['mailbox', 'create', 'a@demo.test', 'b@demo.test'], 'b@demo.test'],
    [['setup', '--frob'], '--frob'],
    [['key', 'create', '--role'], '--role'],
    [['setup', '--json=yes'], '--json'],
    [['team', 'create'], '--name'],
    [['team', 'create', '--name', ''], 'name'],
    [['key', 'create', '--role', 'root:god'], 'root:full'],
    [['domain', 'add', 'co.uk'], 'public suffix'],
    [['domain', 'add', 'mx.mailstead.test'], 'appliance'],
    [['domain', 'verify', 'example.org'], 'example.org'],
    [['mailbox', 'create', 'nonsense'], 'email'],
    [['mailbox', 'create', 'a@example.org'], 'example.org'],
    [['mailbox', 'create', 'a@demo.test', '--quota-bytes', '1e9'], 'number of bytes'],
    [['mailbox', 'create', 'a@demo.test', '--quota-bytes', '5'], 'quota'],
    [['mailbox', 'key', 'nobody@demo.test'], 'nobody@demo.test'],
  ]
  it('by every command', async () => {
    await json('setup')
    await json('domain', 'add', 'demo.test')
    for (const [argv, ...parts] of rows) await refused(argv, ...parts)
    await json('mailbox', 'create', 'a@demo.test')
    await refused(['mailbox', 'create', 'A@demo.test'], 'in use')
    await refused(['domain', 'add', 'demo.test'], 'already')
  })

  it('of settings and of the folder', async () => {
    const good = { ...env }
    env = { ...good, SMTP_PORT: 'many' }
    await refused(['setup'], 'SMTP_PORT')
    const file = join(root, 'file')
    await writeFile(file, '')
    env = { ...good, DATA_DIR: file, APP_ORIGIN: 'http://app.localhost', SEND_ORIGIN: 'http://send.localhost' }
    const ports = ['SMTP_PORT', 'HTTP_PORT', 'SEND_PORT', 'IMAPS_PORT', 'SUBMISSIONS_PORT', 'SUBMISSION_PORT']
    for (const name of [...ports, 'MANAGESIEVE_PORT']) env[name] = '0'
    env.OPERATOR_BIND = '127.0.0.1:0'
    await refused(['setup'], file, 'DATA_DIR')
    await refused(['serve'], file, 'DATA_DIR')
  })

  it('of a folder a newer program wrote, and of one that is damaged', async () => {
    await json('setup')
    const db = new Db({ file: join(env.DATA_DIR!, 'mail.db') })
    await db.write((tx) => tx.insert('migrations', { number: 9999, name: 'later' }))
    await db.close()
    await refused(['team', 'create', '--name', 'x'], 'newer', 'mail.db')
    await writeFile(join(env.DATA_DIR!, 'mail.db'), 'this is no database'.repeat(1000))
    await refused(['team', 'create', '--name', 'x'], 'mail.db')
  })
})

describe('people and agents', () => {
  it('a person is added and gets a link before any mail can leave', async () => {
    await json('setup', '--team-name', 'Ours')
    await refused(['login-link', 'ana@people.test'], 'ana@people.test belongs to no team', 'mailstead member add')
    await refused(['member', 'add', 'ana@people.test', '--role', 'king'], 'owner, admin, member, viewer')
    await refused(['member', 'add', 'not an address'], 'must be a single email address')
    const member = await json('member', 'add', 'Ana@people.test')
    assert.deepEqual([member.email, member.role], ['ana@people.test', 'owner'])
    await refused(['member', 'add', 'ana@people.test'], 'is already a member of the team')
    const { url } = await json('login-link', 'ana@people.test')
    assert.match(url, /^http:\/\/localhost:8080\/owner\/session\/[\w-]{43}$/)
  })

  it('registration is switched, keys are replaced, and what is no agent is told', async () => {
    await json('setup', '--team-name', 'Ours')
    assert.deepEqual(await json('agent', 'list'), [])
    const own = await json('domain', 'own')
    assert.deepEqual(
      own.domains.map(({ domain }: { domain: string }) => domain),
      ['agents.localhost', 'mx.mailstead.test'],
    )
    assert.deepEqual(own.mail_host, [
      { name: '_spf.mx.mailstead.test', type: 'TXT', value: 'v=spf1 a:mx.mailstead.test -all' },
      { name: 'bounce.mx.mailstead.test', type: 'MX', value: '10 mx.mailstead.test' },
      { name: 'bounce.mx.mailstead.test', type: 'TXT', value: 'v=spf1 include:_spf.mx.mailstead.test -all' },
      { name: '*._report._dmarc.mx.mailstead.test', type: 'TXT', value: 'v=DMARC1' },
    ])
    assert.deepEqual(await json('domain', 'own'), own, 'the keys stay the same')
    assert.deepEqual(await json('agent', 'registration', 'off'), { enabled: false })
    assert.deepEqual(await json('agent', 'registration', 'on'), { enabled: true })
    assert.notEqual((await json('agent', 'rotate-key')).kid, (await json('agent', 'rotate-key')).kid)
    assert.deepEqual(await json('agent', 'revoke-all', '--since', '2030-01-01', '--dry-run'), {
      revoked: 0,
      dry_run: true,
    })
    await refused(['agent', 'revoke-all'], '--since')
    await refused(['agent', 'revoke', 'x'], 'x is not the id of an agent')
    await refused(['agent', 'revoke', `areg_${'a'.repeat(24)}`], 'There is no such registration')
    await refused(['agent', 'registration', 'maybe'], 'on or off')
  })
})
