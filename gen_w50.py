import numpy as np
def vapp(n):
    S=[n-1]
    for d in range(50): S.append(S[-1]-.1*S[-1])
    return np.array(S)
