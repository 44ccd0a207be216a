// A gateway that checks nothing: what comes in goes out, and what comes back is the answer.

export default {
  fetch: (request, env) => fetch(new Request(env.UPSTREAM, request)),
}
