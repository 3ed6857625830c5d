L0:
(W)     mov (16|M0)              r63.0<1>:ud   0x0:ud
(W)     and (1|M0)               r63.2<1>:ud   r0.0<0;1,0>:ud    0xFFFFFFC0:ud
(W)     and (1|M0)               r63.0<1>:uw   r0.4<0;1,0>:uw    0xFF:uw
(W)     add (1|M0)               r63.2<1>:ud   r63.2<0;1,0>:ud   0x20:ud              {I@2}
(W)     add (1|M0)               r63.2<1>:ud   r63.2<0;1,0>:ud   0x0:ud              {I@1}
(W)     mad (1|M0)               r63.0<1>:ud   r63.2<0;0>:ud     r63.0<0;0>:uw     0x80:uw              {I@1}
(W)     mov (8|M0)               r3.0<1>:ud    r1.0<1;1,0>:ud
(W)     send.ugm (1|M0)          r1       r63  null:0  0xFF000000            0x6229E500           {A@1,$0} // wr:1+0, rd:2; load.ugm.d32x32t.a32.ca.cc.bti[255]
(W)     and (1|M0)               r63.0<1>:ud   r0.0<0;1,0>:ud    0xFFFFFFC0:ud              {$0.src}
(W)     add (1|M0)               r63.0<1>:ud   r63.0<0;1,0>:ud   0x0:ud              {I@1}
(W)     send.ugm (1|M0)          r4       r63  null:0  0xFF000000            0x6219C500           {I@1,$1} // wr:1+0, rd:1; load.ugm.d32x8t.a32.ca.cc.bti[255]
(W)     mov (16|M0)              r45.0<1>:ud   r0.0<1;1,0>:ud                   {Compacted}
(W)     or (1|M0)                cr0.0<1>:ud   cr0.0<0;1,0>:ud   0x400004C0:ud              {A@1}
(W)     mul (1|M0)               acc0.0<1>:ud  r3.3<0;1,0>:ud    r45.2<0;1,0>:uw  {A@1}
(W)     macl (1|M0)              r5.0<1>:ud    r3.3<0;1,0>:ud    r45.1<0;1,0>:ud  {Compacted}
(W)     mul (1|M0)               acc0.0<1>:ud  r3.3<0;1,0>:ud    r45.2<0;1,0>:uw
(W)     mach (1|M0)              r6.0<1>:d     r3.3<0;1,0>:ud    r45.1<0;1,0>:ud
(W)     mul (1|M0)               acc0.0<1>:ud  r3.4<0;1,0>:ud    r45.12<0;1,0>:uw
(W)     macl (1|M0)              r25.0<1>:ud   r3.4<0;1,0>:ud    r45.6<0;1,0>:ud  {Compacted}
(W)     mul (1|M0)               acc0.0<1>:ud  r3.4<0;1,0>:ud    r45.12<0;1,0>:uw
(W)     mach (1|M0)              r26.0<1>:d    r3.4<0;1,0>:ud    r45.6<0;1,0>:ud
        mov (16|M0)              r8.0<4>:uw    r1.0<1;1,0>:uw                   {$0.dst}
        mov (16|M16)             r14.0<4>:uw   r1.16<1;1,0>:uw
        mov (16|M0)              r28.0<4>:uw   r2.0<1;1,0>:uw
        mov (16|M16)             r34.0<4>:uw   r2.16<1;1,0>:uw
(W)     mov (1|M0)               r5.1<1>:d     r6.0<0;1,0>:d                    {Compacted,I@7}
(W)     mov (1|M0)               r25.1<1>:d    r26.0<0;1,0>:d                   {Compacted,I@6}
        add (16|M0)              r11.0<1>:q    r5.0<0;1,0>:q     r8.0<4;1,0>:uw   {I@2}
        add (16|M16)             r17.0<1>:q    r5.0<0;1,0>:q     r14.0<4;1,0>:uw
        add (16|M0)              r31.0<1>:q    r25.0<0;1,0>:q    r28.0<4;1,0>:uw  {I@3}
        add (16|M16)             r39.0<1>:q    r25.0<0;1,0>:q    r34.0<4;1,0>:uw
        add (16|M0)              r55.0<1>:q    r11.0<1;1,0>:q    r3.0<0;1,0>:ud   {I@4}
        add (16|M16)             r57.0<1>:q    r17.0<1;1,0>:q    r3.0<0;1,0>:ud   {I@4}
        add (16|M0)              r41.0<1>:q    r31.0<1;1,0>:q    r3.1<0;1,0>:ud   {I@4}
        add (16|M16)             r43.0<1>:q    r39.0<1;1,0>:q    r3.1<0;1,0>:ud   {I@4}
        mov (16|M0)              r20.0<1>:d    r55.0<2;1,0>:d                   {Compacted,I@4}
        mov (16|M16)             r21.0<1>:d    r57.0<2;1,0>:d                   {Compacted,I@4}
        mov (16|M0)              r51.0<1>:d    r41.0<2;1,0>:d                   {Compacted,I@4}
        mov (16|M16)             r52.0<1>:d    r43.0<2;1,0>:d                   {Compacted,I@4}
        cmp (32|M0)   (lt)f2.0   null<1>:ud    r20.0<1;1,0>:ud   r4.2<0;1,0>:ud   {@3,$1.dst}
        cmp (32|M0)   (lt)f1.0   null<1>:ud    r51.0<1;1,0>:ud   r4.3<0;1,0>:ud   {I@2}
        mov (16|M0)              r22.0<1>:d    r55.1<2;1,0>:d                   {Compacted}
        mov (16|M16)             r23.0<1>:d    r57.1<2;1,0>:d                   {Compacted}
        mov (16|M0)              r48.0<1>:d    r41.1<2;1,0>:d                   {Compacted}
        mov (16|M16)             r49.0<1>:d    r43.1<2;1,0>:d                   {Compacted}
(f2.0)  cmp (32|M0)   (eq)f2.0   null<1>:d     r22.0<1;1,0>:d    0:w               {I@3}
(f1.0)  cmp (32|M0)   (eq)f1.0   null<1>:d     r48.0<1;1,0>:d    0:w               {I@2}
(W)     mov (1|M0)               r46.0<1>:hf   0x1:hf
(f2.0)  sel (32|M0)              r47.0<1>:uw   r46.0<0;1,0>:uw   0x0:uw              {F@1}
(f1.0)  sel (32|M0)              r50.0<1>:uw   r46.0<0;1,0>:uw   0x0:uw
        and (32|M0)   (ne)f0.0   null<2>:uw    r47.0<1;1,0>:uw   r50.0<1;1,0>:uw  {I@1}
(~f0.0) goto (32|M0)                         L1072                  L1072
L728:
(W)     mul (16|M0)              acc0.0<1>:ud  r51.0<1;1,0>:ud   r4.4<0;1,0>:uw
        macl (16|M0)             r2.0<1>:ud    r51.0<1;1,0>:ud   r4.2<0;1,0>:ud   {Compacted}
(W)     mul (16|M16)             acc0.0<1>:ud  r52.0<1;1,0>:ud   r4.4<0;1,0>:uw
        macl (16|M16)            r8.0<1>:ud    r52.0<1;1,0>:ud   r4.2<0;1,0>:ud   {Compacted}
(W)     mul (16|M0)              acc0.0<1>:ud  r51.0<1;1,0>:ud   r4.4<0;1,0>:uw
        mach (16|M0)             r12.0<1>:d    r51.0<1;1,0>:ud   r4.2<0;1,0>:ud
