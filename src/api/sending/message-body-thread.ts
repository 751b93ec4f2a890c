// The thread that reads large messages of the Sending API.

import { inThread } from '../../http/large-body.ts'
import { reader } from './message-body.ts'

export default inThread(reader)
