import math


def softmax(z):
    """Of each row; one of -inf alone gets zeros."""
    e = np.exp(z - np.maximum(z.max(axis=1, keepdims=True), -1e300))
    return e / np.maximum(e.sum(axis=1, keepdims=True), 1e-300)


def layer_norm(x, eps):
    return (x - x.mean(axis=1, keepdims=True)) / np.sqrt(x.var(axis=1, keepdims=True) + eps)


def rms_norm(x, eps):
    return x / np.sqrt((x * x).mean(axis=1, keepdims=True) + eps)


def relu(x):
    return np.maximum(x, 0)


def gelu(x):
    return x * np.vectorize(lambda t: (1 + math.erf(t / math.sqrt(2))) / 2)(x)


def gelu_tanh(x):
    return x / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


def silu(x):
    return x / (1 + np.exp(-x))


def rotate(x, positions, base, dims, pairing):
    """Pair t of the first columns turned by position * base**(-2t / dims)."""
    half = pairing == "half"
    first = slice(0, dims // 2) if half else slice(0, dims, 2)
    second = slice(dims // 2, dims) if half else slice(1, dims, 2)
    angles = np.outer(positions, base ** (-np.arange(0, dims, 2) / dims))
    y = np.array(x, dtype=float)
    y[:, first] = x[:, first] * np.cos(angles) - x[:, second] * np.sin(angles)
    y[:, second] = x[:, second] * np.cos(angles) + x[:, first] * np.sin(angles)
    return y


def rounded(x, decimals):
    """A half goes away from zero, as with a pencil."""
    return np.sign(x) * np.floor(np.round(np.abs(x) * 10**decimals, 8) + 0.5) / 10**decimals

