// The catalogue of permissions, the built-in roles, and checks of granted permissions.

const NAMESPACES: Readonly<Record<string, readonly string[]>> = {
  provider: ['read', 'create', 'update', 'delete', 'manage'],
  remote: ['read', 'create', 'update', 'delete', 'manage'],
  domain: ['read', 'create', 'verify', 'delete'],
  'mailbox.admin': ['read', 'create', 'delete', 'manage'],
  logs: ['read'],
  billing: ['read'],
  analytics: ['read'],
  webhook: ['read', 'create', 'update', 'delete', 'manage'],
  email: ['send'],
  suppression: ['read', 'manage'],
  apikey: ['read', 'create', 'update', 'delete'],
  team: ['read', 'manage'],
  audit: ['read'],
}

/** Every permission a root key can hold (docs/design/directory.md §1). */
export const PERMISSIONS: readonly string[] = Object.entries(NAMESPACES).flatMap(([namespace, verbs]) =>
  verbs.map((verb) => `${namespace}.${verb}`),
)

/** Wildcards a root key can hold, one for each namespace. */
export const WILDCARDS: readonly string[] = Object.keys(NAMESPACES).map((namespace) => `${namespace}.*`)

/** Every permission a mailbox key can hold (docs/design/directory.md §6.2). */
export const MAILBOX_SCOPES = ['mailbox.read', 'email.receive', 'mailbox.write', 'email.send'] as const

export type Role = 'root:full' | 'root:readonly' | 'root:webhook_admin'

/** The permissions of each built-in role (docs/design/contract.md §5.2). */
export const ROLES: Readonly<Record<Role, readonly string[]>> = {
  'root:full': Object.keys(NAMESPACES).map((namespace) => `${namespace}.*`),
  'root:readonly': PERMISSIONS.filter((permission) => permission.endsWith('.read')),
  'root:webhook_admin': ['webhook.*'],
}

export function isRole(name: string): name is Role {
  return Object.hasOwn(ROLES, name)
}

/** True for a permission of the catalogue, or a wildcard that covers at least one. `*` alone is not valid. */
export function isPermission(name: string): boolean {
  return PERMISSIONS.includes(name) || (isWildcard(name) && PERMISSIONS.some((permission) => covers(name, permission)))
}

/** True when one of the granted permissions is the needed one or a wildcard over it. */
export function allows(granted: readonly string[], needed: string): boolean {
  return granted.some((permission) => permission === needed || (isWildcard(permission) && covers(permission, needed)))
}

/**
 * True when a holder of `granted` may grant `wanted`. A wanted wildcard needs a granted wildcard: a list of single permissions does not
 * include those of later versions.
 */
export function isSubset(wanted: readonly string[], granted: readonly string[]): boolean {
  return wanted.every((permission) => allows(granted, permission))
}

function isWildcard(permission: string): boolean {
  return permission.length > 2 && permission.endsWith('.*')
}

function covers(wildcard: string, permission: string): boolean {
  return permission.startsWith(wildcard.slice(0, -1))
}
