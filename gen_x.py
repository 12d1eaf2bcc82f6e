import numpy as np
def a(n):
    x=n-1
    for d in range(26): x=x-.1*x
    return x
def b(n):
    x=n-1
    for d in range(26): x=x-.1*x
    return np.array([n,x])
def c(n):
    S=[n-1]
    for d in range(26): S.append(S[-1]-.1*S[-1])
    return np.array(S)
def c2(n):
    S=[n-1]
    for d in range(28): S.append(S[-1]-.1*S[-1])
    return np.array(S)
def d(n):
    S=[n*1.]
    for d in range(28): S.append(S[-1]-.1*S[-1])
    return np.array(S)
