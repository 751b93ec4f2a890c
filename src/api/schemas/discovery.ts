// Schemas of the discovery and health documents.

import { Type } from 'typebox'
import { record } from './record.ts'

export const ProtectedResource = record('ProtectedResource', 'Metadata of a protected resource (RFC 9728).', {
  resource: Type.String(),
  resource_name: Type.String(),
  authorization_servers: Type.Array(Type.String()),
  scopes_supported: Type.Array(Type.String()),
  bearer_methods_supported: Type.Array(Type.String()),
  resource_documentation: Type.String(),
})

export const Health = record('Health', 'It works.', { status: Type.Literal('ok') })

export const Readiness = record('Readiness', 'Messages can be accepted and read.', {
  status: Type.Literal('ok'),
  details: Type.Optional(
    Type.Array(Type.String(), {
      description: 'Warnings for the operator, such as an unreliable clock, damaged content or few free inodes.',
    }),
  ),
})
