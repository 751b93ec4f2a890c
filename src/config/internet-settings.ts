// The settings of HTTPS and of certificates from an authority.

import { Type } from 'typebox'
import { BaseUrl, Port } from './setting-types.ts'

/** Part of the list in `config.ts`, in the order of the documentation. */
export const internetSettings = {
  HTTPS_PORT: {
    ...Port,
    default: 0,
    description:
      'TCP port of HTTPS for the API, the console, sending and discovery, by host name (443 on the public internet). 0: no HTTPS; a reverse proxy serves it, or it is a trial.',
  },
  ACME: Type.Enum(['off', 'on'], {
    default: 'off',
    description:
      'Whether certificates are obtained and renewed by ACME (RFC 8555). On: you agree to the terms of the authority, and port 80 (HTTP_PORT) or 443 (HTTPS_PORT) is reachable from the internet.',
  }),
  ACME_DIRECTORY: {
    ...BaseUrl,
    default: 'https://acme-v02.api.letsencrypt.org/directory',
    description: 'URL of the directory of the certificate authority.',
  },
  ACME_EMAIL: Type.String({
    default: '',
    maxLength: 254,
    pattern: '^([^@\\s,<>]+@[^@\\s,<>]+)?$',
    description: 'Address the certificate authority may write to. Empty: none is given.',
  }),
  ACME_EAB_KID: Type.String({
    default: '',
    maxLength: 512,
    description:
      'Id of the External Account Binding, for authorities that want an account of their own site, such as ZeroSSL.',
  }),
  ACME_EAB_KEY: Type.String({
    default: '',
    maxLength: 1024,
    pattern: '^[A-Za-z0-9_-]*=*$',
    description: 'MAC key of ACME_EAB_KID, base64url.',
  }),
  ACME_PROFILE: Type.String({
    default: '',
    maxLength: 64,
    description: 'Profile of certificates, such as shortlived. Empty: the usual one of the authority.',
  }),
  DNSSEC_RESOLVERS: Type.Array(Type.String(), {
    default: [],
    description:
      'Validating DNS resolvers on this machine or on a protected path, as ip, ip:port or [ipv6]:port: their AD bit is believed, and DANE protects direct delivery. Empty: no DANE. A stub such as 127.0.0.53 that only forwards is none.',
  }),
} as const
