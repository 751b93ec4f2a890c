// The thread that reads large messages to send.

import { inThread } from '../../../http/large-body.ts'
import { reader } from './send-body.ts'

export default inThread(reader)
