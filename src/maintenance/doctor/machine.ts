// What the doctor sees of the machine: the data folder, its disk, its clock, and the certificate of STARTTLS.

import { X509Certificate } from 'node:crypto'
import { constants, existsSync } from 'node:fs'
import { access, stat, statfs } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { DAY_MS, MINUTE_MS } from '../../base/durations.ts'
import { freeInodes, INODES_LOW } from '../../base/free-inodes.ts'
import { RESTORING } from '../../config/data-folder.ts'
import { sizeText } from '../backup/size-text.ts'
import { type Finding, failing, fine, warning } from './finding.ts'

const MIB = 2 ** 20
const FREE_WARN_BYTES = 1024 * MIB
const FREE_FAIL_BYTES = 100 * MIB
/** Files of another machine may be this much ahead. */
const CLOCK_SLACK_MS = 5 * MINUTE_MS
/** Automatic renewal is late when it has not come by now. */
const RENEWAL_DAYS = 14

/** Whether the data folder is there to be looked into; a doctor makes none. */
export async function checkFolder(dataDir: string): Promise<Finding> {
  const path = resolve(dataDir)
  if (existsSync(join(path, RESTORING))) {
    const says = `A restore into ${path} is running or was interrupted.`
    return failing('data_folder', says, 'Wait until it ends, or empty the folder and run mailstead restore again.')
  }
  try {
    await access(path, constants.R_OK | constants.W_OK | constants.X_OK)
    await access(join(path, 'mail.db'), constants.R_OK | constants.W_OK)
    return fine('data_folder', `${path} can be read and written.`)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
      return failing(
        'data_folder',
        `${path} is not a data folder.`,
        'Set DATA_DIR to its folder, or run mailstead setup.',
      )
    }
    const says = `${path} or mail.db in it cannot be read and written by this user.`
    return failing('data_folder', says, 'Run this as the user of the appliance, or change the owner of the folder.')
  }
}

export async function checkDisk(dataDir: string): Promise<Finding[]> {
  const { bavail, bsize } = await statfs(dataDir)
  return [freeSpaceFinding(bavail * bsize), inodeFinding(await freeInodes(dataDir))]
}

/** @param free bytes this user may still write */
export function freeSpaceFinding(free: number): Finding {
  const says = `${sizeText(free)} are free for the data folder.`
  const advice = 'Free some space, or move the data folder to a larger disk: without space no message is accepted.'
  if (free < FREE_FAIL_BYTES) return failing('disk', says, advice)
  return free < FREE_WARN_BYTES ? warning('disk', says, advice) : fine('disk', says)
}

/** @param free files that can be created; infinite where they are not counted */
export function inodeFinding(free: number): Finding {
  const check = 'inodes'
  if (free === Number.POSITIVE_INFINITY) return fine(check, 'The file system of the data folder does not limit files.')
  const says = `${free} inodes are free for the data folder.`
  const advice = 'Delete files that are not needed: without a free inode large messages are refused.'
  if (free === 0) return failing(check, says, advice)
  return free < INODES_LOW ? warning(check, says, advice) : fine(check, says)
}

/** A clock that was set back is behind what has been written already. */
export async function checkClock(dataDir: string, now: number): Promise<Finding> {
  const { mtimeMs } = await stat(join(dataDir, 'mail.db'))
  const time = new Date(now).toISOString()
  if (mtimeMs <= now + CLOCK_SLACK_MS) return fine('clock', `The clock says ${time}.`)
  const says = `The clock says ${time}, but mail.db was written at ${new Date(mtimeMs).toISOString()}.`
  return failing('clock', says, 'Set the clock, and keep it right with NTP: signatures and tokens depend on it.')
}

/** The certificate STARTTLS shows. */
export function checkCertificate(pem: string, hosts: readonly string[], now: number): Finding[] {
  const certificate = new X509Certificate(pem)
  const [from, to] = [certificate.validFromDate.getTime(), certificate.validToDate.getTime()]
  const days = Math.floor((to - now) / DAY_MS)
  const renew = 'Renew the files of TLS_CERT_FILE and TLS_KEY_FILE; the appliance takes them within an hour.'
  if (now < from) {
    const says = `The certificate is valid only from ${certificate.validFromDate.toISOString()}.`
    return [failing('tls', says, 'Check the clock, or use the certificate later.')]
  }
  if (now >= to) return [failing('tls', `The certificate expired at ${certificate.validToDate.toISOString()}.`, renew)]
  const findings: Finding[] = missingNames(pem, hosts).map((host) =>
    warning(
      'tls',
      `The certificate does not name ${host}.`,
      'Get a certificate that names every mail host, and CLIENT_HOST.',
    ),
  )
  if (days < RENEWAL_DAYS) findings.push(warning('tls', `The certificate expires in ${days} days.`, renew))
  if (certificate.checkIssued(certificate)) {
    const says = 'The certificate is self-signed; senders that require a trusted one (MTA-STS, DANE) do not deliver.'
    findings.push(
      warning('tls', says, 'Set ACME to on, or TLS_CERT_FILE and TLS_KEY_FILE to a certificate of an authority.'),
    )
  }
  return findings.length > 0
    ? findings
    : [fine('tls', `The certificate names the mail hosts and is valid for ${days} days.`)]
}

/** The hosts a certificate is not valid for. */
export function missingNames(pem: string, hosts: readonly string[]): string[] {
  const certificate = new X509Certificate(pem)
  return hosts.filter((host) => certificate.checkHost(host) === undefined)
}
