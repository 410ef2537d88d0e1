// Every word that a person sees, in English and Chinese.

const TEXTS = {
    title: ['Ebbing: long-term memory', 'Ebbing 长期记忆'],
    enabled: ['Use the memory', '启用记忆'],

    connection: ['Connection', '连接'],
    address: ['Address of the service', '服务地址'],
    key: ['Key', '密钥'],
    keyHint: [
        'Made by `ebbing keys create --role write --tenant tavern`. Other extensions can read it: give it no more rights than it needs.',
        '用 `ebbing keys create --role write --tenant tavern` 生成。其他扩展也能读到它，所以不要给更多权限。',
    ],
    check: ['Check the connection', '检查连接'],
    checking: ['Checking …', '正在检查……'],
    connected: ['The service answers, and the key is accepted.', '服务正常，密钥有效。'],

    before: ['Before an answer', '回复之前'],
    budget: ['A message waits at most (milliseconds)', '每条消息最多等待（毫秒）'],
    maxTokens: ['Room in the prompt (tokens)', '提示词预算（token）'],
    maxMemories: ['Relevant memories at most', '相关记忆最多几条'],
    minScore: ['Least relevance (0 to 1)', '最低相关度（0 到 1）'],
    rungQuestion: ['1. Search for the last message', '1. 用最后一条消息检索'],
    rungConversation: ['2. Understand it by the messages before it', '2. 结合前面的对话检索'],
    turns: ['Messages before it', '结合前面几条'],
    rungRewrite: [
        '3. Nothing certain: let the chat’s model rewrite the question (costs a request)',
        '3. 仍没把握：让聊天模型改写问题再检索（语义重写，多一次模型请求）',
    ],
    rewritePrompt: ['Prompt for rewriting', '重写提示词'],
    rewriteWait: ['Rewriting takes at most (milliseconds)', '重写最多等待（毫秒）'],
    resetPrompt: ['Back to the original prompt', '恢复默认提示词'],
    position: ['Place in the prompt', '注入位置'],
    positionAfterMain: ['after the main prompt', '主提示词之后'],
    positionBeforeMain: ['before the main prompt', '主提示词之前'],
    positionInChat: ['in the chat, at this depth', '聊天中，深度为'],
    depth: ['Depth', '深度'],

    after: ['After an answer', '回复之后'],
    write: ['Remember what is said', '记住对话'],
    dropDirections: ['Leave out stage directions (*she smiles*)', '不记动作描写（*微笑*）'],
    privateChat: ['This chat is off the record: nothing of it is written', '本聊天不留记录：什么都不写入'],
    forgetChat: ['Forget what this chat taught', '忘记从本聊天学到的'],
    forgetChatSure: [
        'Everything that was learnt from this chat is erased for good. Go on?',
        '从本聊天学到的一切都会被彻底删除，不能恢复。继续吗？',
    ],
    forgottenChat: ['Erased.', '已删除。'],

    people: ['Who is who', '谁是谁'],
    peopleHint: [
        'Each character remembers for itself, and each persona is a person of their own. Give a name here to share a memory with other programs.',
        '每个角色各记各的，每个用户角色是不同的人。在这里改名，可与其他程序共用同一份记忆。',
    ],
    persona: ['Persona', '用户角色'],
    character: ['Character', '角色'],
    memoryName: ['Name in the memory', '记忆中的名字'],

    last: ['What was injected last', '最近一次注入'],
    nothingYet: ['Nothing yet: send a message.', '还没有：发一条消息试试。'],
    lastLine: ['{character}: {outcome} · {milliseconds} ms · {tokens} tokens', '{character}：{outcome} · {milliseconds} 毫秒 · {tokens} token'],
    askedFor: ['Searched for: {query}', '检索：{query}'],
    rewritten: ['Rewritten as: {query}', '改写为：{query}'],
    wholeBlock: ['The block as the model saw it', '模型看到的原文'],
    rung_question: ['found by the message itself', '由消息本身找到'],
    rung_conversation: ['found by the conversation', '结合对话找到'],
    rung_rewrite: ['found by the rewritten question', '由改写的问题找到'],
    rung_none: ['nothing relevant; who the person is, and what is new', '没有相关记忆；只有画像和近况'],
    group_relevant: ['relevant', '相关'],
    group_profile: ['who the person is', '画像'],
    group_recent: ['new', '近况'],
    score: ['relevance {score}', '相关度 {score}'],

    memories: ['Memories', '记忆'],
    find: ['Search', '搜索'],
    show: ['Show', '显示'],
    withWords: ['Also the messages as they were said', '也显示原话'],
    more: ['More', '更多'],
    noMemories: ['Nothing is remembered here.', '这里还没有记忆。'],
    pin: ['Pin: it never fades', '置顶：不会淡忘'],
    unpin: ['Let it fade again', '取消置顶'],
    edit: ['Edit', '编辑'],
    save: ['Save', '保存'],
    cancel: ['Cancel', '取消'],
    forget: ['Forget', '忘记'],
    forgotten: ['Forgotten.', '已忘记。'],
    undo: ['Undo', '撤销'],
    kind_memory: ['memory', '记忆'],
    kind_episode: ['as it was said', '原话'],

    injected: ['injected', '已注入'],
    empty: ['nothing fits', '没有合适的记忆'],
    unreachable: [
        'No answer. Does `ebbing serve` run at this address, and does EBBING_HTTP_CORS_ORIGINS there contain {origin}?',
        '没有应答。请确认 `ebbing serve` 正在该地址运行，并且它的 EBBING_HTTP_CORS_ORIGINS 包含 {origin}。',
    ],
    timeout: ['The service took too long; the chat went on without it.', '服务太慢，聊天没有等它。'],
    paused: ['The service failed just now and is left alone for a moment.', '服务刚才出错，暂时不再询问。'],
    unauthorized: ['The key is missing, wrong or revoked.', '密钥缺失、错误或已撤销。'],
    forbidden: ['The key may not do this, or it is for another person.', '该密钥无此权限，或属于另一个人。'],
    unknown_origin: ['Add {origin} to EBBING_HTTP_CORS_ORIGINS of the service.', '请把 {origin} 加入服务的 EBBING_HTTP_CORS_ORIGINS。'],
    rate_limited: ['Too many requests: try again in a minute.', '请求过多，请一分钟后再试。'],
    refused: ['The service refused ({code}).', '服务拒绝了请求（{code}）。'],
    writeFailed: ['Not written yet, it is tried again: {reason}', '尚未写入，稍后重试：{reason}'],
    written: ['The memory is up to date.', '记忆已是最新。'],
};

/** Return a function that gives texts in the language of SillyTavern: `say('lastLine', {tokens: 3})`. */
export function sayIn(locale) {
    const language = locale.toLowerCase().startsWith('zh') ? 1 : 0;
    return (name, values = {}) =>
        TEXTS[name][language].replace(/\{(\w+)\}/g, (whole, key) => (key in values ? String(values[key]) : whole));
}

/** Return whether there is a text of this name. */
export function isText(name) {
    return Object.hasOwn(TEXTS, name);
}
