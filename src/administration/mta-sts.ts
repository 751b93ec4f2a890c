// The MTA-STS policies of domains here: a policy is enforced only after its record, its file, the MX and the certificate were checked.

import { X509Certificate } from 'node:crypto'
import type { Clock } from '../base/clock.ts'
import { conflict, notFound } from '../base/errors.ts'
import type { Log } from '../base/log.ts'
import type { Resolver } from '../base/resolver.ts'
import { SafeFetch } from '../base/safe-fetch.ts'
import type { Config } from '../config/config.ts'
import type { Directory } from '../directory/directory.ts'
import type { Domain } from '../directory/domains/domain-record.ts'
import { ownPolicy } from '../directory/domains/tls-records.ts'
import { lookUpMx, lookUpTxt } from '../directory/names/dns-lookup.ts'
import { POLICY_MAX, type StsMode } from '../tls-policy/sts.ts'

export interface MtaStsDeps {
  clock: Clock
  log: Log
  config: Config
  resolver: Resolver
  directory: Pick<Directory, 'domains'>
  /** The certificate of the mail listeners, PEM. */
  mailCertificate(): Promise<string>
}

/** The conditions of an enforced policy: without one of them other servers could not deliver. */
export const MTA_STS_CHECKS = ['record', 'policy', 'mx', 'certificate'] as const

export interface MtaStsCheck {
  check: (typeof MTA_STS_CHECKS)[number]
  ok: boolean
  /** One sentence: what was found, and what to do where it is wrong. */
  text: string
}

type Findings = Pick<MtaStsCheck, 'ok' | 'text'>

const fine = (text: string): Findings => ({ ok: true, text })
const wrong = (text: string): Findings => ({ ok: false, text })

export class MtaStsAdministration {
  readonly #deps: MtaStsDeps

  constructor(deps: MtaStsDeps) {
    this.#deps = deps
  }

  /** Looks at DNS, the policy as others fetch it, and the certificate. @throws ProductError not_found */
  async look(teamId: string, id: string): Promise<{ domain: Domain; checks: MtaStsCheck[] }> {
    const domain = this.#deps.directory.domains.get(teamId, id)
    if (domain === undefined) throw notFound('domain')
    const [record, policy, mx, certificate] = await Promise.all([
      this.#record(domain),
      this.#policy(domain),
      this.#exchanges(domain),
      this.#certificate(),
    ])
    const findings = { record, policy, mx, certificate }
    return { domain, checks: MTA_STS_CHECKS.map((check) => ({ check, ...findings[check] })) }
  }

  /**
   * @param check receives the current record inside the unit of work; throws to refuse
   * @throws ProductError not_found, conflict for `enforce` where a look finds something wrong
   */
  async setMode(teamId: string, id: string, mode: StsMode, check?: (current: Domain) => void): Promise<Domain> {
    if (mode === 'enforce') {
      const { checks } = await this.look(teamId, id)
      const failed = checks.filter(({ ok }) => !ok)
      if (failed.length > 0) {
        const reasons = failed.map(({ text }) => text).join(' ')
        throw conflict(`The policy would keep mail from arriving, so it stays in its mode. ${reasons}`, 'mode')
      }
    }
    return this.#deps.directory.domains.setMtaStsMode(teamId, id, mode, check)
  }

  async #record({ name, records }: Domain): Promise<Findings> {
    const expected = records.tls.find((record) => record.name === `_mta-sts.${name}`)
    if (expected === undefined) return wrong('APP_ORIGIN is no https origin with a host name: set it and HTTPS_PORT.')
    const { values } = await lookUpTxt(this.#deps.resolver, expected.name)
    const own = values.filter((value) => value.startsWith('v=STSv1'))
    if (own.length > 1) return wrong(`${expected.name} has ${own.length} records; keep one.`)
    if (own.length === 0) return wrong(`${expected.name} has no record. Publish: ${expected.value}`)
    return fine(`${expected.name} has its record.`)
  }

  /** As others fetch it, with the certificate of the name. */
  async #policy({ name, mtaStsMode }: Domain): Promise<Findings> {
    const { config, log, resolver } = this.#deps
    const url = `https://mta-sts.${name}/.well-known/mta-sts.txt`
    const fetch = new SafeFetch({ resolver, log, allowPrivate: config.ALLOW_PRIVATE_SMTP_HOSTS })
    try {
      const { status, body, text } = await fetch.get(url, {}, POLICY_MAX)
      if (body === null) return wrong(`${url} cannot be fetched: ${text}`)
      if (status !== 200) return wrong(`${url} answers with status ${status}.`)
      if (body !== ownPolicy(mtaStsMode, config)) return wrong(`${url} has another policy than this server.`)
      return fine(`${url} has the policy.`)
    } finally {
      await fetch.close()
    }
  }

  async #exchanges({ name }: Domain): Promise<Findings> {
    const { resolver, config } = this.#deps
    const { values } = await lookUpMx(resolver, name)
    const hosts = values.map((value) => value.split(' ')[1]!)
    const others = hosts.filter((host) => !config.MAIL_HOSTS.includes(host))
    if (hosts.length === 0) return wrong(`${name} has no MX record.`)
    if (others.length > 0) return wrong(`The MX ${others.slice(0, 5).join(', ')} of ${name} is not in MAIL_HOSTS.`)
    return fine(`Every MX of ${name} is in the policy.`)
  }

  async #certificate(): Promise<Findings> {
    const { config, clock } = this.#deps
    const certificate = new X509Certificate(await this.#deps.mailCertificate())
    const missing = config.MAIL_HOSTS.filter((host) => certificate.checkHost(host) === undefined)
    if (certificate.checkIssued(certificate)) return wrong('The certificate of port 25 is signed by itself.')
    if (missing.length > 0) return wrong(`The certificate of port 25 does not name ${missing.join(', ')}.`)
    if (clock.now() >= certificate.validToDate.getTime()) return wrong('The certificate of port 25 has expired.')
    return fine('The certificate of port 25 names the mail hosts.')
  }
}
