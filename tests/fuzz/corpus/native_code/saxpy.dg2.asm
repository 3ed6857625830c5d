L0:
(W)     mov (8|M0)               r127.0<1>:ud  0x0:ud
(W)     and (1|M0)               r127.2<1>:ud  r0.0<0;1,0>:ud    0xFFFFFFC0:ud
(W)     and (1|M0)               r127.0<1>:uw  r0.4<0;1,0>:uw    0xFF:uw
(W)     add (1|M0)               r127.2<1>:ud  r127.2<0;1,0>:ud  0x40:uw              {I@2}
(W)     mad (1|M0)               r127.2<1>:ud  r127.2<0;0>:ud    r127.0<0;0>:uw    0xC0:uw              {I@1}
(W)     mov (8|M0)               r7.0<1>:ud    r1.0<1;1,0>:ud
(W)     send.dc0 (8|M0)          r1       r127    null:0  0x0            0x024844FD           {A@1,$0} // wr:1h+0, rd:4; oword aligned block read x8
(W)     add (1|M0)               r127.2<1>:ud  r127.2<0;1,0>:ud  0x80:uw              {$0.src}
(W)     send.dc0 (8|M0)          r5       r127    null:0  0x0            0x022843FD           {A@1,$1} // wr:1h+0, rd:2; oword aligned block read x4
        nop
        nop
        nop
(W)     mov (8|M0)               r127.0<1>:ud  0x0:ud                              {$1.src}
(W)     and (1|M0)               r127.2<1>:ud  r0.0<0;1,0>:ud    0xFFFFFFC0:ud
(W)     send.dc0 (8|M0)          r8       r127    null:0  0x0            0x022843FD           {A@1,$2} // wr:1h+0, rd:2; oword aligned block read x4
(W)     mov (8|M0)               r3.0<1>:ud    r0.0<1;1,0>:ud                   {$0.dst}
(W)     or (1|M0)                cr0.0<1>:ud   cr0.0<0;1,0>:ud   0x4C0:uw              {A@1}
        sync.nop                             null                             {Compacted,A@1}
        sync.nop                             null                             {Compacted,$2.dst}
(W)     mul (1|M0)               acc0.0<1>:d   r9.0<0;1,0>:d     r3.2<0;1,0>:uw   {Compacted,A@1}
(W)     mach (1|M0)              r4.0<1>:d     r9.0<0;1,0>:d     r3.1<0;1,0>:d    {Compacted}
        sync.nop                             null                             {Compacted,$1.dst}
        add3 (16|M0)             r5.0<1>:d     r4.0<0;0>:d       r1.0<1;0>:uw      r7.0<0>:d        {I@1}
        add3 (16|M16)            r10.0<1>:d    r4.0<0;0>:d       r2.0<1;0>:uw      r7.0<0>:d
        cmp (16|M0)   (lt)f0.0   null<1>:d     r5.0<1;1,0>:ud    r8.5<0;1,0>:ud   {I@2}
        cmp (16|M16)  (lt)f0.0   null<1>:d     r10.0<1;1,0>:ud   r8.5<0;1,0>:ud   {I@2}
(~f0.0) goto (32|M0)                         L536                  L536
L392:
        shl (16|M0)              r12.0<1>:d    r5.0<1;1,0>:d     2:w               {Compacted}
        shl (16|M16)             r14.0<1>:d    r10.0<1;1,0>:d    2:w               {Compacted}
        send.ugm (16|M0)         r16      r12     null:0  0x0            0x64280500           {A@2,$3} // wr:2+0, rd:2; load.ugm.d32.a32.ca.ca.bti[0]
        send.ugm (16|M0)         r20      r12     null:0  0x1000000            0x64280500           {$4} // wr:2+0, rd:2; load.ugm.d32.a32.ca.ca.bti[1]
        send.ugm (16|M16)        r18      r14     null:0  0x0            0x64280500           {A@1,$5} // wr:2+0, rd:2; load.ugm.d32.a32.ca.ca.bti[0]
        send.ugm (16|M16)        r22      r14     null:0  0x1000000            0x64280500           {$6} // wr:2+0, rd:2; load.ugm.d32.a32.ca.ca.bti[1]
        sync.nop                             null                             {Compacted,$4.dst}
        mad (16|M0)              r20.0<1>:f    r20.0<1;0>:f      r16.0<1;0>:f      r8.4<0>:f        {Compacted,$3.dst}
        send.ugm (16|M0)         null     r12     r20:2   0x1000000            0x640E0504           {A@1,$7} // wr:2+2, rd:0; store.ugm.d32.a32.wb.wb.bti[1]
        sync.nop                             null                             {Compacted,$6.dst}
        mad (16|M16)             r22.0<1>:f    r22.0<1;0>:f      r18.0<1;0>:f      r8.4<0>:f        {Compacted,$5.dst}
        send.ugm (16|M16)        null     r14     r22:2   0x1000000            0x640E0504           {A@1,$8} // wr:2+2, rd:0; store.ugm.d32.a32.wb.wb.bti[1]
L536:
        join (32|M0)                         L552
L552:
(W)     mov (8|M0)               r127.0<1>:f   r3.0<1;1,0>:f                    {Compacted}
