import type { Message, SendMessageRequest, StreamResponse, Task } from '@a2a-js/sdk'
import { RequestMalformedError, TaskNotFoundError, UnsupportedOperationError } from '@a2a-js/sdk/errors'
import { DefaultRequestHandler, type ServerCallContext, type TaskStore } from '@a2a-js/sdk/server'

/** The longest name that a caller may give a context, in characters: it is looked up by. */
const longestContext = 256

/** An A2A server whose tasks are made of one message each: a tool asks nothing back, so that there is nothing to add. */
export class OneMessageHandler extends DefaultRequestHandler {
  readonly #tasks: TaskStore

  constructor(...[card, tasks, ...more]: ConstructorParameters<typeof DefaultRequestHandler>) {
    super(card, tasks, ...more)
    this.#tasks = tasks
  }

  override async sendMessage(request: SendMessageRequest, context: ServerCallContext): Promise<Message | Task> {
    return super.sendMessage(await this.#first(request, context), context)
  }

  override async *sendMessageStream(
    request: SendMessageRequest,
    context: ServerCallContext,
  ): AsyncGenerator<StreamResponse, void, undefined> {
    yield* super.sendMessageStream(await this.#first(request, context), context)
  }

  /** The message as the first of a task. The tasks that it refers to are nothing to a tool, and the library looks each up. */
  async #first(request: SendMessageRequest, context: ServerCallContext): Promise<SendMessageRequest> {
    const { message } = request
    if (message === undefined) return request
    const { taskId, contextId } = message
    if (contextId.length > longestContext)
      throw new RequestMalformedError(`\`message.contextId\` must be at most ${longestContext} characters long.`)
    if (taskId === '') return { ...request, message: { ...message, referenceTaskIds: [] } }
    if ((await this.#tasks.load(taskId, context)) === undefined) throw new TaskNotFoundError('There is no such task.')
    throw new UnsupportedOperationError(
      'A tool takes one message: leave `message.taskId` out, and it is called anew. `contextId` may stay.',
    )
  }
}
