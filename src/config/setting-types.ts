// The types that several settings have, and what the message says when a value does not match a pattern.

import { Type } from 'typebox'

export const Port = Type.Integer({ minimum: 0, maximum: 65535 })
const ORIGIN_PATTERN = '^(https?://[^/?#@\\s]+)?$'
const BASE_URL_PATTERN = '^https?://[^?#@\\s]*[^/?#@\\s]$'
const HOST_NAME_PATTERN = '^(?=.{1,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\\.)*[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$'
const HOST_PORT_PATTERN = '^(\\[[0-9a-fA-F:.]+\\]|[0-9.]+):[0-9]{1,5}$'
export const CURRENCY_PATTERN = '^[A-Z]{3}$'
export const TEAM_ID_PATTERN = '^(team_[a-z0-9]{24})?$'
export const REGION_PATTERN = '^[a-z0-9-]{1,32}$'
export const TOPIC_ARN_PATTERN = '^arn:[a-z0-9-]+:sns:[a-z0-9-]+:[0-9]{12}:[A-Za-z0-9_-]{1,256}$'
const TIME_PATTERN = '^([01][0-9]|2[0-3]):[0-5][0-9]$'
const KEEP_PATTERN = '^(all|[1-9][0-9]{0,2}d( [0-9]{1,3}w)?( [0-9]{1,3}m)?)$'
export const EXTENSION_PATTERN = '^[a-z0-9]{1,16}$'

/** What a value must be, by the pattern of its schema: completes the sentence "The setting X …". */
export const PATTERN_TEXTS: ReadonlyMap<string, string> = new Map([
  [ORIGIN_PATTERN, 'must be an origin such as https://mail.example.com, without a path'],
  [BASE_URL_PATTERN, 'must be a URL such as https://api.example.com, without a slash at its end'],
  [HOST_NAME_PATTERN, 'must be a host name in lower case, such as mail.example.com'],
  [HOST_PORT_PATTERN, 'must be an IP address and a port, such as 127.0.0.1:9090'],
  [CURRENCY_PATTERN, 'must be a currency code of three capital letters, such as USD'],
  [TEAM_ID_PATTERN, 'must be the id of a team, such as team_ and 24 characters'],
  [REGION_PATTERN, 'must be an AWS region, such as us-east-1'],
  [TOPIC_ARN_PATTERN, 'must be the ARN of an SNS topic, such as arn:aws:sns:us-east-1:123456789012:mail'],
  [TIME_PATTERN, 'must be times of the day such as 03:15'],
  [KEEP_PATTERN, 'must be all, or days, weeks and months such as 7d 4w 6m'],
  [EXTENSION_PATTERN, 'must be file name extensions in lower case without a dot, such as txt'],
])

export const Origin = Type.String({ pattern: ORIGIN_PATTERN })
export const BaseUrl = Type.String({ pattern: BASE_URL_PATTERN })
export const HostName = Type.String({ pattern: HOST_NAME_PATTERN })
export const HostPort = Type.String({ pattern: HOST_PORT_PATTERN })
export const TimeOfDay = Type.String({ pattern: TIME_PATTERN })
export const BackupKeep = Type.String({ pattern: KEEP_PATTERN })
/** Most backups a day. */
export const BACKUP_TIMES_MAX = 24
export const Days = Type.Integer({ minimum: 1, maximum: 3660 })
