// The doctor, from the outside: what it finds in DNS, on the disk, on the port, and how it ends.

import assert from 'node:assert/strict'
import { createPrivateKey } from 'node:crypto'
import { mkdtemp, readdir, rm, utimes } from 'node:fs/promises'
import { createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { runCli } from '../../../src/cli/cli.ts'
import { selfSigned } from '../../../src/config/certificate.ts'
import { loadConfig } from '../../../src/config/load.ts'
import { accountFindings } from '../../../src/maintenance/doctor/accounts.ts'
import { outlineFinding, queueFinding, webhookFinding } from '../../../src/maintenance/doctor/backlog.ts'
import { checkClientHost, checkClientPorts, checkDocumentNames } from '../../../src/maintenance/doctor/client-ports.ts'
import { clientFindings } from '../../../src/maintenance/doctor/domains.ts'
import type { Finding } from '../../../src/maintenance/doctor/finding.ts'
import { checkCertificate, freeSpaceFinding } from '../../../src/maintenance/doctor/machine.ts'
import { checkInboundPort, checkOutboundPort } from '../../../src/maintenance/doctor/outside.ts'
import { checkSmtp, DIALOGUE_MAX } from '../../../src/maintenance/doctor/smtp-port.ts'
import { reverseName } from '../../../src/net/reverse-name.ts'
import type { Provider } from '../../../src/outbound/model/records.ts'
import { startAppliance } from '../../support/appliance.ts'
import { startDns, type Zone, zoneResolver } from '../../support/dns.ts'

const DAY_MS = 86_400_000
const NOW = Date.UTC(2026, 5, 1)
const root = await mkdtemp(join(tmpdir(), 'mailstead-doctor-'))
after(() => rm(root, { recursive: true }))
const dns = await startDns({})
after(() => dns.close())

const appliance = await startAppliance({ env: { MAIL_HOSTS: 'mx.mail-host.org' } })
after(() => appliance.close())
const env = {
  DATA_DIR: appliance.dataDir,
  DNS_SERVERS: dns.address,
  MAIL_HOSTS: 'mx.mail-host.org',
  SMTP_PORT: String(appliance.ports.smtp),
  SMTP_BIND: '127.0.0.1',
  CLIENT_PROTOCOLS: 'imaps,imap',
  CLIENT_BIND: '127.0.0.1',
  IMAPS_PORT: String(appliance.ports.imaps),
  IMAP_PORT: String(appliance.ports.imap),
}

interface Seen {
  code: number
  findings: Finding[]
  err: string[]
}

async function look(settings: Record<string, string> = env): Promise<Seen> {
  const out: string[] = []
  const err: string[] = []
  const io = { out: (line: string) => out.push(line), err: (line: string) => err.push(line), env: settings }
  const code = await runCli(['doctor', '--json'], io)
  assert.equal(out.length, 1, err.join())
  const { healthy, findings } = JSON.parse(out[0]!) as { healthy: boolean; findings: Finding[] }
  assert.equal(healthy, code === 0)
  for (const { says, do: advice, level } of findings) {
    assert.match(says, /[.;]$/)
    assert.equal(advice === null, level === 'ok', says)
  }
  return { code, findings, err }
}

function levels({ findings }: Seen, check: string): string[] {
  return findings.filter((finding) => finding.check === check).map(({ level }) => level)
}

describe('beside a running appliance', () => {
  it('names what DNS lacks, and ends with 1', async () => {
    const team = await appliance.team()
    await team.domain('shop-of-ana.org')
    dns.zone = {}
    const seen = await look()
    assert.equal(seen.code, 1)
    assert.match(JSON.parse(seen.err[0]!).error.message, /^\d+ of \d+ checks failed\.$/)
    assert.deepEqual(levels(seen, 'mail_host'), ['fail'])
    const domain = seen.findings.filter(({ says }) => says.startsWith('shop-of-ana.org: '))
    assert.deepEqual(
      domain.filter(({ level }) => level === 'fail').map(({ says }) => says),
      ['shop-of-ana.org: the verification record at _mail-verify.shop-of-ana.org is wrong; nothing was found.'],
    )
    assert.ok(domain.some(({ says }) => says.includes('the mx record')))
    assert.deepEqual(levels(seen, 'smtp'), ['ok'])
    assert.deepEqual(levels(seen, 'client_port'), ['ok', 'ok'])
    assert.deepEqual(levels(seen, 'outlines'), ['ok'])
    assert.deepEqual(levels(seen, 'queue'), ['ok'])
    assert.deepEqual(levels(seen, 'webhooks'), ['ok'])
    assert.deepEqual(levels(seen, 'data_folder'), ['ok'])
    const records = seen.findings.filter(({ check }) => check === 'client_dns')
    assert.equal(records.length, 1, 'one finding for each domain')
    assert.match(records[0]!.says, /^shop-of-ana\.org: 2 of 5 records .*: _imaps\._tcp\.shop-of-ana\.org, _imap\._tcp/)
  })

  it('names the records for mail programs that are wrong, in one finding', () => {
    const check = { name: 'autoconfig.a.org', type: 'CNAME', value: 'app.a.org', found: ['web.isp.net'] } as const
    const [wrong] = clientFindings(
      'a.org',
      [
        { ...check, ok: false },
        { ...check, ok: true },
      ].map((one) => ({ ...one, found: [...one.found] })),
    )
    assert.equal(
      wrong!.says,
      'a.org: 1 of 2 records for mail programs are missing or wrong: autoconfig.a.org (found: web.isp.net).',
    )
    assert.equal(clientFindings('a.org', [{ ...check, found: [], ok: true }])[0]!.level, 'ok')
    assert.deepEqual(clientFindings('a.org', []), [])
  })

  it('finds nothing to mend once the records are there, and moves no domain on by looking', async () => {
    const teams = appliance.app.directory.teams.list()
    const pages = await Promise.all(
      teams.map(({ id }) => appliance.app.directory.domains.list(id, { limit: 10, after: null })),
    )
    const domain = pages.flatMap(({ items }) => items).find(({ name }) => name === 'shop-of-ana.org')!
    const { mx, spf, dkim, dmarc, verification } = domain.records
    dns.zone = {
      [verification.name]: { TXT: [verification.value] },
      [spf.name]: { TXT: [spf.value], MX: mx.map(({ priority, target }) => ({ priority, exchange: target })) },
      [dmarc.name]: { TXT: [dmarc.value] },
      ...Object.fromEntries(dkim.map(({ name, value }) => [name, { TXT: [value] }])),
      'mx.mail-host.org': { A: ['198.41.0.4'] },
      '4.0.41.198.in-addr.arpa': { PTR: ['mx.mail-host.org'] },
      '_spf.mx.mail-host.org': { TXT: ['v=spf1 ip4:198.41.0.4 -all'] },
      'bounce.mx.mail-host.org': {
        MX: [{ priority: 5, exchange: 'mx.mail-host.org' }],
        TXT: ['v=spf1 include:_spf.mx.mail-host.org -all'],
      },
      'any._report._dmarc.mx.mail-host.org': { TXT: ['v=DMARC1'] },
    }
    const seen = await look()
    assert.equal(seen.code, 0, JSON.stringify(seen.findings))
    assert.ok(seen.findings.some(({ says }) => says === 'shop-of-ana.org has all its records.'))
    assert.deepEqual(levels(seen, 'mail_host'), ['ok'])
    assert.deepEqual(levels(seen, 'reverse_dns'), ['ok'])
    assert.deepEqual(levels(seen, 'host_records'), ['ok'])
    const unmoved = appliance.app.directory.domains.get(domain.teamId, domain.id)
    assert.deepEqual(unmoved, domain)
    assert.equal(unmoved!.verificationStatus, 'pending')

    dns.zone['bounce.mx.mail-host.org'] = { MX: [{ priority: 5, exchange: 'mail.isp.net' }] }
    const advice = (await look()).findings.filter(({ check }) => check === 'host_records').map((one) => one.do)
    assert.deepEqual(advice, ['Set it to: 10 mx.mail-host.org', 'Set it to: v=spf1 include:_spf.mx.mail-host.org -all'])
    dns.zone['4.0.41.198.in-addr.arpa'] = { PTR: ['host-4.isp.net'] }
    const named = (await look()).findings.find(({ check }) => check === 'reverse_dns')!
    assert.deepEqual(
      [named.level, named.says],
      ['warn', 'The PTR record of 198.41.0.4 is host-4.isp.net, not mx.mail-host.org.'],
    )
    dns.zone['mx.mail-host.org'] = { A: ['10.0.0.8'] }
    const inside = await look()
    assert.deepEqual([levels(inside, 'mail_host'), levels(inside, 'reverse_dns')], [['warn'], []])
    dns.zone['mx.mail-host.org'] = { error: 'servfail' }
    assert.deepEqual(levels(await look(), 'mail_host'), ['warn'], 'silence is not absence')
  })
})

describe('sending accounts', () => {
  it('are named when they take no messages, with the reason and what to do', async () => {
    assert.deepEqual(levels(await look(), 'account'), ['ok'])
    const team = await appliance.team('Senders')
    const account = { smtp_host: 'smtp.relay-host.org', smtp_port: 587, smtp_protocol: 'starttls' }
    const made = await appliance.call('POST', '/providers', team.key, {
      ...{ name: 'Relay', smtp_username: 'u', smtp_password: 'p' },
      ...account,
    })
    assert.equal(made.status, 201, JSON.stringify(made.body))
    // The name of its server is not in DNS.
    await appliance.settle()
    const { id, status_reason } = (await appliance.get(`/providers/${made.body.data.id}`, team.key)).body.data
    const [finding, ...others] = (await look()).findings.filter(({ check }) => check === 'account')
    assert.deepEqual(others, [])
    assert.equal(finding!.level, 'warn')
    const why = String(status_reason).replace(/\.$/, '')
    assert.equal(finding!.says, `The sending account Relay (${id}) of ${team.id} takes no messages: ${why}.`)
    assert.equal(finding!.command, `mailstead provider test ${id}`)
    await appliance.call('DELETE', `/providers/${id}`, team.key)
    assert.deepEqual(levels(await look(), 'account'), ['ok'])
  })

  it('are counted beyond fifty, and one that was never checked is told after an hour', () => {
    const one = { id: 'dprov_1', teamId: 'team_1', name: 'Relay', updatedAt: 0, statusReason: 'auth: no' }
    const many = (status: 'error' | 'pending', count: number) =>
      Array.from({ length: count }, () => ({ ...one, status })) as Provider[]
    const findings = accountFindings(many('error', 53), 0, 0)
    assert.deepEqual([findings.length, findings.at(-1)!.says], [51, '3 more sending accounts have a problem.'])
    assert.deepEqual(
      [3_599_999, 3_600_000].map((now) => accountFindings(many('pending', 1), 2, now)[0]!.level),
      ['ok', 'warn'],
    )
  })
})

describe('the machine', () => {
  it('a folder without an appliance is left as it is', async () => {
    const folder = await mkdtemp(join(root, 'empty-'))
    const seen = await look({ ...env, DATA_DIR: folder })
    assert.equal(seen.code, 1)
    assert.deepEqual(levels(seen, 'data_folder'), ['fail'])
    assert.deepEqual(await readdir(folder), [])
  })

  it('a clock behind its own files fails', async () => {
    const folder = await mkdtemp(join(root, 'clock-'))
    const settings = { ...env, DATA_DIR: folder }
    assert.equal(await runCli(['setup', '--json'], { out: () => {}, err: () => {}, env: settings }), 0)
    assert.deepEqual(levels(await look(settings), 'clock'), ['ok'])
    const later = new Date(Date.now() + DAY_MS)
    await utimes(join(folder, 'mail.db'), later, later)
    assert.deepEqual(levels(await look(settings), 'clock'), ['fail'])
  })

  it('judges free space, lateness and certificates by their bounds', async () => {
    const free = [99, 100, 1023, 1024].map((mib) => freeSpaceFinding(mib * 2 ** 20).level)
    assert.deepEqual(free, ['fail', 'warn', 'warn', 'ok'])
    const queue = [-1, 899_999, 900_000, DAY_MS].map((late) => queueFinding(1, late).level)
    assert.deepEqual(queue, ['ok', 'ok', 'warn', 'fail'])
    assert.deepEqual([webhookFinding(0, 0).level, webhookFinding(2, 900_000).level], ['ok', 'warn'])
    assert.match(outlineFinding(1).says, /^1 message of an earlier version is still/)
    const { cert, key } = await selfSigned('mx.mail-host.org', NOW, NOW + 20 * DAY_MS)
    assert.ok(createPrivateKey(key))
    const at = (days: number, host = 'mx.mail-host.org') =>
      checkCertificate(cert, [host], NOW + days * DAY_MS).map(({ level, says }) => `${level} ${says.slice(0, 30)}`)
    assert.deepEqual(at(1), ['warn The certificate is self-signed'])
    assert.deepEqual(at(15)[0], 'warn The certificate expires in 5 d')
    assert.deepEqual(at(1, 'other.org')[0], 'warn The certificate does not name ')
    assert.deepEqual(at(21), ['fail The certificate expired at 202'])
    assert.deepEqual(at(-1), ['fail The certificate is valid only '])
  })

  it('knows the reverse names of both families', () => {
    assert.equal(reverseName('192.0.2.7'), '7.2.0.192.in-addr.arpa')
    assert.equal(reverseName('2001:db8::1'), `1.${'0.'.repeat(23)}8.b.d.0.1.0.0.2.ip6.arpa`)
  })
})

describe('settings that are wrong together', () => {
  const said = async (more: Record<string, string>) =>
    (await look({ ...env, ...more })).findings.filter(({ check }) => check === 'settings').map(({ says }) => says)
  it('says which', async () => {
    assert.match((await said({ MAIL_HOSTS: 'localhost' })).join(), /^The mail host is localhost/)
    const origins = { APP_ORIGIN: 'http://mail.shop.org', SEND_ORIGIN: 'https://send.shop.org' }
    const agents = { AGENT_MAILBOX_DOMAIN: 'agents.shop.org' }
    assert.match((await said({ ...origins, ...agents })).join(), /^APP_ORIGIN is http:[^,]+unencrypted\.$/)
    const right = { ...origins, ...agents, APP_ORIGIN: 'https://mail.shop.org' }
    assert.deepEqual(await said(right), ['The settings are consistent.'])
    const lax = await look({ ...env, ...right, SIGN_IN_LINKS_TO_LOCAL: 'true' })
    assert.deepEqual(levels(lax, 'settings'), ['warn'])
    assert.match((await said({ ...right, SIGN_IN_LINKS_TO_LOCAL: 'true' }))[0]!, /sent to mailboxes of this appliance/)
    assert.match((await said({ ...right, DIRECT_PORT: '2525' })).join(), /port 2525/)
  })
})

describe('our port', () => {
  /** What is found where a server answers each line, and its greeting, with the next of these. */
  async function against(replies: string[], proxied = ''): Promise<Finding> {
    const sockets = new Set<Socket>()
    const server = createServer((socket) => {
      sockets.add(socket.on('error', () => {}))
      const left = [...replies]
      socket.write(left.shift() ?? '')
      socket.on('data', () => socket.write(left.shift() ?? ''))
    })
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    const { port } = server.address() as { port: number }
    try {
      const config = loadConfig({ ...env, SMTP_PORT: String(port), PROXY_PROTOCOL_FROM: proxied })
      return await checkSmtp(config, 200)
    } finally {
      for (const socket of sockets) socket.destroy()
      server.close()
    }
  }

  it('must greet and offer STARTTLS', async () => {
    const list = '250-mx\r\n250-SIZE 5\r\n250 STARTTLS\r\n'
    assert.equal((await against(['220 mx ESMTP\r\n', list])).level, 'ok')
    assert.equal((await against(['220 mx ESMTP\r\n', '250 mx\r\n'])).level, 'fail')
    assert.equal((await against(['554 no\r\n', ''])).level, 'fail')
    assert.match((await against([])).says, /timeout/)
    assert.equal((await against([], '127.0.0.1')).level, 'warn')
    assert.match((await against(['x'.repeat(DIALOGUE_MAX + 1)])).says, /flood/)
  })

  it('may be closed while the appliance does not run', async () => {
    const server = createServer()
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    const { port } = server.address() as { port: number }
    await new Promise((done) => server.close(done))
    const { level, says } = await checkSmtp(loadConfig({ ...env, SMTP_PORT: String(port) }))
    assert.equal(level, 'warn')
    assert.match(says, /does not run/)
  })
})

describe('ports of mail programs', () => {
  /** A listener that greets, and answers each line with the next of these. */
  async function listening<T>(replies: string[], find: (port: number) => Promise<T>): Promise<T> {
    const sockets = new Set<Socket>()
    const server = createServer((socket) => {
      const left = [...replies]
      sockets.add(socket.on('error', () => {}))
      socket.write(left.shift() ?? '')
      socket.on('data', () => socket.write(left.shift() ?? ''))
    })
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    try {
      return await find((server.address() as { port: number }).port)
    } finally {
      for (const socket of sockets) socket.destroy()
      server.close()
    }
  }

  it('must answer over TLS, or offer it', async () => {
    const seen = (await look()).findings.filter(({ check }) => check === 'client_port')
    assert.deepEqual(seen, [
      { ...seen[0], level: 'ok', says: `Port ${appliance.ports.imaps} (imaps) answers over TLS.` },
      { ...seen[1], level: 'ok', says: `Port ${appliance.ports.imap} (imap) answers and offers STARTTLS.` },
    ])
    const check = async (
      replies: string[],
      { timeoutMs = 60_000, ...more }: { timeoutMs?: number; PROXY_PROTOCOL_FROM?: string } = {},
    ) => {
      const [finding] = await listening(replies, (port) =>
        checkClientPorts(loadConfig({ ...env, CLIENT_PROTOCOLS: 'imap', IMAP_PORT: String(port), ...more }), timeoutMs),
      )
      return `${finding!.level} ${finding!.says.replace(/^Port \d+ /, '')}`
    }
    const half = ['* OK hi\r\n', '* CAPABILITY IMAP4rev1\r\n']
    assert.match(await check(half, { timeoutMs: 200 }), /^fail/)
    const none = ['* OK hi\r\n', '* CAPABILITY IMAP4rev1\r\na OK done\r\n']
    assert.equal(await check(none), 'fail (imap) offers no STARTTLS (missing in its list).')
    assert.equal(
      await check(['220 mx ESMTP\r\n', 'a OK x\r\n']),
      'fail (imap) does not answer as it should (another reply).',
    )
    assert.equal(await check(['x'.repeat(DIALOGUE_MAX + 1)]), 'fail (imap) does not answer as it should (flood).')
    assert.match(await check([], { timeoutMs: 200 }), /timeout/)
    assert.match(await check([], { timeoutMs: 200, PROXY_PROTOCOL_FROM: '127.0.0.1' }), /^warn/)
    const plain = await listening(['* OK hi\r\n'], (port) =>
      checkClientPorts(loadConfig({ ...env, CLIENT_PROTOCOLS: 'imaps', IMAPS_PORT: String(port) }), 60_000),
    )
    assert.equal(plain[0]!.level, 'fail')
    const closed = loadConfig({ ...env, IMAPS_PORT: '1', IMAP_PORT: '2' })
    assert.deepEqual(
      (await checkClientPorts(closed)).map(({ level }) => level),
      ['warn', 'warn'],
    )
  })

  it('are reached by CLIENT_HOST from outside, with a certificate that is trusted', async () => {
    const { cert } = appliance.app.folder.tls
    const config = loadConfig({
      ...{ ...env, CLIENT_HOST: 'mx.mail-host.org' },
      CLIENT_PUBLIC_PORTS: [appliance.ports.imaps, appliance.ports.imap, 465, 587, 4190].join(),
    })
    const resolver = zoneResolver({
      'mx.mail-host.org': { A: ['127.0.0.1'] },
      'imap.mail-host.org': { A: ['127.0.0.1'] },
    })
    const levelsOf = async (host: string, ca?: string) =>
      (await checkClientHost(resolver, { ...config, CLIENT_HOST: host }, ca === undefined ? {} : { ca })).map(
        ({ level }) => level,
      )
    assert.deepEqual(await levelsOf('mx.mail-host.org', cert), ['ok', 'ok'])
    assert.deepEqual(await levelsOf('mx.mail-host.org'), ['warn', 'ok'], 'no authority')
    assert.deepEqual(await levelsOf('imap.mail-host.org', cert), ['warn', 'ok'], 'another name')
    assert.deepEqual(await levelsOf('nowhere.mail-host.org'), ['fail'])
    assert.deepEqual(await levelsOf('imap.shop.test'), [])
  })

  it('names of autoconfiguration need a certificate that names them', async () => {
    const names = ['mx.mail-host.org', 'autoconfig.shop.org', 'autoconfig.absent.org']
    const resolver = zoneResolver({ [names[0]!]: { A: ['127.0.0.1'] }, [names[1]!]: { A: ['127.0.0.1'] } })
    const options = { port: appliance.ports.imaps, trust: { ca: appliance.app.folder.tls.cert } }
    const findings = await checkDocumentNames(resolver, names, options)
    assert.deepEqual(
      findings.map(({ level, says }) => [level, says.split(' ')[0]]),
      [
        ['ok', 'https://mx.mail-host.org'],
        ['warn', 'https://autoconfig.shop.org'],
      ],
    )
  })
})

describe('port 25', () => {
  /** A mail server of that name on loopback, and what is found where DNS leads to it. */
  async function greeted<T>(greeting: string, find: (port: number) => Promise<T>): Promise<T> {
    const server = createServer((socket) => {
      socket.on('error', () => {}).write(greeting)
      socket.on('data', (text) => socket.write(String(text).startsWith('QUIT') ? '221 bye\r\n' : '250 mx\r\n'))
    })
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    try {
      return await find((server.address() as { port: number }).port)
    } finally {
      server.close()
    }
  }
  const levelsOf = (findings: Finding[]) => findings.map(({ check, level }) => `${check} ${level}`)

  it('is tried only when that is asked for, and not by a trial', async () => {
    const seen = await look()
    assert.match(seen.findings.find(({ check }) => check === 'port_25')!.says, /--outside/)
    assert.deepEqual(levels(await look({ ...env, MAIL_HOSTS: 'localhost' }), 'port_25'), [])
  })

  it('leads to us when it greets by our name', async () => {
    const resolver = zoneResolver({ 'mx.mail-host.org': { A: ['127.0.0.1'] } })
    const wayIn = (port: number) => checkInboundPort(resolver, loadConfig(env), port)
    assert.deepEqual(levelsOf(await greeted('220 mx.mail-host.org ESMTP\r\n', wayIn)), ['port_25_in ok'])
    assert.deepEqual(levelsOf(await greeted('220 other.org ESMTP\r\n', wayIn)), ['port_25_in fail'])
    assert.deepEqual(levelsOf(await greeted('554 no\r\n', wayIn)), ['port_25_in warn'])
  })

  it('lets mail out when a mail server of others greets', async () => {
    const others = { MX: [{ priority: 5, exchange: '127.0.0.1' }] }
    const wayOut =
      (zone: Zone, more: Record<string, string> = {}) =>
      (port: number) =>
        checkOutboundPort(zoneResolver(zone), loadConfig({ ...env, DIRECT_PORT: String(port), ...more }))
    const both = { 'gmail.com': others, 'outlook.com': others }
    assert.deepEqual(levelsOf(await greeted('220 mx.other.org\r\n', wayOut(both))), ['port_25_out ok'])
    assert.deepEqual(levelsOf(await greeted('220 mx.other.org\r\n', wayOut({ 'outlook.com': others }))), [
      'port_25_out ok',
    ])
    const [shut] = await greeted('554 no\r\n', wayOut(both))
    assert.equal(shut!.level, 'fail')
    assert.match(shut!.says, /127\.0\.0\.1: another reply; 127\.0\.0\.1/)
    assert.deepEqual(levelsOf(await wayOut({})(1)), ['port_25_out warn'])
    assert.deepEqual(levelsOf(await wayOut(both, { DIRECT_DELIVERY: 'false' })(1)), ['port_25_out ok'])
  })
})
