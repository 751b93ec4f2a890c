// A certificate authority for tests: what mail programs are given to trust, as an operator's organisation would.

import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']
/** The name the certificate is for. */
export const TLS_HOST = 'localhost'

/** Paths of PEM files. */
export interface IssuedCertificate {
  authority: string
  cert: string
  key: string
}

/** Makes an authority and a certificate of it, all in `folder`. @param hosts names it is for */
export async function issueCertificate(
  folder: string,
  hosts: readonly string[] = [TLS_HOST],
): Promise<IssuedCertificate> {
  const file = (name: string) => join(folder, name)
  const [authority, cert, key] = [file('authority.pem'), file('server.pem'), file('server.key')]
  const own = ['-keyout', file('authority.key'), '-out', authority, '-subj', '/CN=Authority of the test', '-days', '30']
  const usage = ['-addext', 'keyUsage=critical,keyCertSign,cRLSign']
  await run('openssl', ['req', '-x509', ...KEY, ...own, ...usage])
  await run('openssl', ['req', '-new', ...KEY, '-keyout', key, '-out', file('request.pem'), '-subj', `/CN=${TLS_HOST}`])
  const subjects = hosts.map((host) => `DNS:${host}`).join(',')
  const names = `subjectAltName=${subjects},IP:127.0.0.1\nextendedKeyUsage=serverAuth\nbasicConstraints=CA:FALSE\n`
  await writeFile(file('extensions'), names)
  const signer = ['-CA', authority, '-CAkey', file('authority.key'), '-CAcreateserial', '-days', '30']
  await run('openssl', [
    'x509',
    '-req',
    '-in',
    file('request.pem'),
    '-out',
    cert,
    '-extfile',
    file('extensions'),
    ...signer,
  ])
  return { authority, cert, key }
}
